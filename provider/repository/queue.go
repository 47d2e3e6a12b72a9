package repository

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
)

// A Delivery is the desired write of one object.
type Delivery struct {
	// Object that wants it.
	Object types.NamespacedName
	// Version changes with the object, or with any input of its plan: a delivery that was refused before is tried again then.
	Version string
	// Asked is when a user asked for another try: a failure from before is not waited out. Zero means never.
	Asked time.Time
	// IsAside is true if the delivery follows a failed delivery of its object, and the failure counts until the earlier delivery succeeds.
	IsAside bool
	// Size is how many bytes it holds while it waits, by and large.
	Size int
	// Plan adds the delivery to a draft. It may be called several times, and after the reconcile that asked has ended: it must share
	// nothing with that. An error concerns this delivery alone, and leaves nothing in the draft.
	Plan func(ctx context.Context, d *git.Draft) error
}

// An item is a delivery in the queue.
type item struct {
	Delivery

	repo *Repository
	// askedAt is the time of the request.
	askedAt time.Time
	// begun is true once a batch has it, and it cannot be withdrawn.
	begun bool
	// abandoned is true if its object does not wait any more, and is woken when it ends.
	abandoned bool
	done      chan struct{}
	// err is how it ended, once it is done.
	err error
}

// A PendingError says that a delivery goes on without the reconcile that asked for it. The object is woken when it has ended.
type PendingError struct {
	// LastFailure is how the delivery failed the last time, and is tried again. Nil if it did not fail.
	LastFailure error
}

// Error names the wait.
func (*PendingError) Error() string {
	return "the delivery waits for others, or for an answer of the repository"
}

// IsPending reports whether the delivery goes on.
func IsPending(err error) bool {
	var p *PendingError
	return errors.As(err, &p)
}

// RetriedFailure returns how a delivery that goes on failed the last time. It is nil if the delivery did not fail, or does not go on.
func RetriedFailure(err error) error {
	var p *PendingError
	if errors.As(err, &p) {
		return p.LastFailure
	}
	return nil
}

// isItemAnswered reports whether the item was answered.
func (i *item) isItemAnswered() bool {
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

// awaitResult waits for the end of the item, at most for the patience. It returns a *PendingError if that takes longer.
func (i *item) awaitResult(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-i.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return i.repo.abandonItem(i)
}

// abandonItem makes the item wake its object when it ends, unless it has ended meanwhile.
func (r *Repository) abandonItem(i *item) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-i.done:
		return nil
	default:
		i.abandoned = true
		return &PendingError{LastFailure: r.lastFailureOf(i.Delivery)}
	}
}

// A queue holds items in a fair order: each namespace has its turn, and within one the first comes first.
type queue struct {
	turns []string
	items map[string][]*item
	size  int
}

func (q *queue) enqueueItem(i *item) {
	if q.items == nil {
		q.items = map[string][]*item{}
	}
	ns := i.Object.Namespace
	if len(q.items[ns]) == 0 {
		q.turns = append(q.turns, ns)
	}
	q.items[ns] = append(q.items[ns], i)
	q.size++
}

// takeNextItem takes the first item of the namespace whose turn it is.
func (q *queue) takeNextItem() *item {
	ns := q.turns[0]
	q.turns = q.turns[1:]
	i := q.items[ns][0]
	q.items[ns] = q.items[ns][1:]
	q.size--
	if len(q.items[ns]) == 0 {
		delete(q.items, ns)
		return i
	}
	q.turns = append(q.turns, ns)
	return i
}

// peekItem returns the next item of takeNextItem, and leaves it in the queue.
func (q *queue) peekItem() *item { return q.items[q.turns[0]][0] }

// dropItem drops an item. It returns false if the queue does not have it any more.
func (q *queue) dropItem(dropped *item) bool {
	ns := dropped.Object.Namespace
	for n, i := range q.items[ns] {
		if i != dropped {
			continue
		}
		q.items[ns] = slices.Delete(slices.Clone(q.items[ns]), n, n+1)
		q.size--
		if len(q.items[ns]) == 0 {
			q.removeNamespaceTurn(ns)
		}
		return true
	}
	return false
}

func (q *queue) removeNamespaceTurn(ns string) {
	delete(q.items, ns)
	q.turns = slices.DeleteFunc(slices.Clone(q.turns), func(turn string) bool { return turn == ns })
}
