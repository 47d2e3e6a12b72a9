package repository

import (
	"context"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
)

// A Delivery is what one object wants to write.
type Delivery struct {
	// Object that wants it.
	Object types.NamespacedName
	// Version changes when the object, or what it is judged by, does: what was refused before may be accepted now.
	Version string
	// Size is how many bytes it holds while it waits, by and large.
	Size int
	// Plan adds the delivery to a draft. It may be called several times, and after the object has left: it must share nothing
	// with who does not wait for it. An error concerns this delivery alone, and leaves nothing in the draft.
	Plan func(ctx context.Context, d *git.Draft) error
}

// An item is a delivery that is waited for.
type item struct {
	Delivery

	of *Repository
	// asked is when.
	asked time.Time
	// begun is true once it cannot be taken back.
	begun bool
	// left is true if nobody waits any more.
	left bool
	done chan struct{}
	// err is how it ended, once it is done.
	err error
}

// A PendingError says that something goes on without who asked for it. They are woken when it has ended.
type PendingError struct{}

// Error says what is waited for.
func (*PendingError) Error() string {
	return "the delivery waits for others, or for an answer of the repository"
}

// IsPending reports whether the delivery goes on.
func IsPending(err error) bool {
	var p *PendingError
	return errors.As(err, &p)
}

// wait for the end.
func (i *item) wait(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-i.done:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return i.of.abandon(i)
}

// abandon an item, unless it has ended meanwhile.
func (r *Repository) abandon(i *item) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-i.done:
		return nil
	default:
		i.left = true
		return &PendingError{}
	}
}

// A queue holds items in a fair order: each namespace has its turn, and within one the first comes first.
type queue struct {
	turns []string
	items map[string][]*item
	size  int
}

func (q *queue) add(i *item) {
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

// next takes the first item of the namespace whose turn it is.
func (q *queue) next() *item {
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

// peek returns what next would take.
func (q *queue) peek() *item { return q.items[q.turns[0]][0] }

// drop an item. It is false if it is not there any more.
func (q *queue) drop(gone *item) bool {
	ns := gone.Object.Namespace
	for n, i := range q.items[ns] {
		if i != gone {
			continue
		}
		q.items[ns] = slices.Delete(slices.Clone(q.items[ns]), n, n+1)
		q.size--
		if len(q.items[ns]) == 0 {
			q.leave(ns)
		}
		return true
	}
	return false
}

func (q *queue) leave(ns string) {
	delete(q.items, ns)
	q.turns = slices.DeleteFunc(slices.Clone(q.turns), func(turn string) bool { return turn == ns })
}
