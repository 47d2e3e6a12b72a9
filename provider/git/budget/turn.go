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

func turnFromContext(ctx context.Context) *largeTurn {
	t, _ := ctx.Value(turnKey{}).(*largeTurn)
	return t
}

func (t *largeTurn) hasLargeLane() bool { return t != nil && t.lane }

func (t *largeTurn) endUntilNext() {
	t.ended.Store(true)
	t.end()
}

// An Operation reads answers of a Git server, and may be run again from its beginning.
type Operation struct {
	// Run runs it without the lane of large answers, and RunWithLane with it.
	Run, RunWithLane func(context.Context) error
	// MakeRoom drops cached objects of the namespace, which a large answer may need the memory of. Nil drops none.
	MakeRoom func()
}

// RunInTurn runs an operation. An operation whose answer turns out to be large while another large answer is read ends. It waits for the lane, outside of the
// time of a run, and holds nothing meanwhile: no connection, no place and no memory. Then it is run once more. RunInTurn returns the error of the last run, or
// a *failure.Error if the lane is not free in time.
func (b *Budget) RunInTurn(ctx context.Context, o Operation) error {
	first := &largeTurn{}
	inner, end := context.WithCancel(context.WithValue(ctx, turnKey{}, first))
	first.end = end
	err := o.Run(inner)
	end()
	if err == nil || !first.ended.Load() {
		return err
	}
	if o.MakeRoom != nil {
		o.MakeRoom()
	}
	free, err := b.acquireLane(ctx)
	if err != nil {
		return &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the repository: its answer is large, and other large answers are read first"}
	}
	defer free()
	return o.RunWithLane(context.WithValue(ctx, turnKey{}, &largeTurn{lane: true}))
}

// acquireLane waits for the lane, which comes with the memory of a large answer.
func (b *Budget) acquireLane(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, maxLaneWait)
	defer cancel()
	return memory.ReserveLarge(ctx, b.Namespace())
}
