package budget

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/memory"
)

// maxLaneWait is how long an operation waits for the lane of large answers. It is longer than an operation may take: several have their turns before.
const maxLaneWait = 5 * time.Minute

// A largeTurn records whether one run of an operation has the lane. A nil largeTurn does not have it.
type largeTurn struct {
	lane bool
	// ended is true once the run found that it needs the lane, and that another operation has it.
	ended atomic.Bool
	end   context.CancelFunc
}

type turnKey struct{}

func turnOf(ctx context.Context) *largeTurn {
	t, _ := ctx.Value(turnKey{}).(*largeTurn)
	return t
}

func (t *largeTurn) hasLane() bool { return t != nil && t.lane }

func (t *largeTurn) endUntilNext() {
	t.ended.Store(true)
	t.end()
}

// RunInTurn runs an operation, which may be run again from its beginning. An operation whose answer turns out to be large while another large answer is read
// ends. It waits for the lane, without a connection to its server and outside of the time of a run, and is run once more with the lane. It returns the error of
// the last run, or a *failure.Error if the lane is not free in time.
func (b *Budget) RunInTurn(ctx context.Context, run func(context.Context) error) error {
	first := &largeTurn{}
	inner, end := context.WithCancel(context.WithValue(ctx, turnKey{}, first))
	first.end = end
	err := run(inner)
	end()
	if err == nil || !first.ended.Load() {
		return err
	}
	free, err := b.acquireLane(ctx)
	if err != nil {
		return &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the repository: its answer is large, and other large answers are read first"}
	}
	defer free()
	return run(context.WithValue(ctx, turnKey{}, &largeTurn{lane: true}))
}

// acquireLane waits for the memory of a large answer, and then for the lane. Memory comes first: a namespace that waits for its own memory keeps the lane from
// no other namespace.
func (b *Budget) acquireLane(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, maxLaneWait)
	defer cancel()
	release, err := memory.Reserve(ctx, b.account.Namespace, memory.LargeBytes)
	if err != nil {
		return nil, err
	}
	leave, err := b.lane.places.Acquire(ctx, b.account)
	if err != nil {
		release()
		return nil, err
	}
	return func() { leave(); release() }, nil
}

// tryAcquireLane acquires the lane and the memory of a large answer if both are free.
func (b *Budget) tryAcquireLane() (func(), bool) {
	release, ok := memory.TryReserve(b.account.Namespace, memory.LargeBytes)
	if !ok {
		return nil, false
	}
	leave, ok := b.lane.places.TryAcquire(b.account)
	if !ok {
		release()
		return nil, false
	}
	return func() { leave(); release() }, true
}
