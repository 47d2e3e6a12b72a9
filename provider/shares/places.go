package shares

import (
	"context"
	"sync"
)

// Places limit concurrent operations: each holds a place while it is under way. They are safe for concurrent use.
type Places struct {
	mu    sync.Mutex
	queue *Queue[*waiter]
}

// A waiter has its place once it was given.
type waiter struct {
	place Place
	given chan struct{}
}

// NewPlaces returns places that are all free.
func NewPlaces(l Limits) *Places { return &Places{queue: NewQueue[*waiter](l)} }

// Acquire waits for a place at a host. It returns a function that frees the place, which may be called more than once, or the error of the
// context if that ends before: then the namespace keeps its turn for the next time. A place that is free is given to each caller.
func (p *Places) Acquire(ctx context.Context, place Place) (func(), error) {
	w := &waiter{given: make(chan struct{})}
	p.mu.Lock()
	p.queue.Add(w, place.Host, place.Namespace)
	p.giveFreePlaces()
	p.mu.Unlock()
	free := sync.OnceFunc(func() { p.freeWaiterPlace(w) })
	select {
	case <-w.given:
		return free, nil
	case <-ctx.Done():
		return p.cancelPlaceWait(ctx, w, free)
	}
}

// cancelPlaceWait ends the wait of a caller whose context ended, unless the place was given at the same time.
func (p *Places) cancelPlaceWait(ctx context.Context, w *waiter, free func()) (func(), error) {
	select {
	case <-w.given:
		return free, nil
	default:
		free()
		return nil, ctx.Err()
	}
}

// TryAcquire acquires a free place and returns the function that frees it, or false if there is none. The namespace has its turn from then
// on, as if it waited.
func (p *Places) TryAcquire(place Place) (func(), bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiter{given: make(chan struct{})}
	p.queue.Add(w, place.Host, place.Namespace)
	p.giveFreePlaces()
	select {
	case <-w.given:
		return sync.OnceFunc(func() { p.freeWaiterPlace(w) }), true
	default:
		p.queue.GiveUp(w)
		p.giveFreePlaces()
		return nil, false
	}
}

// IsIdle reports whether nothing waits and nothing is under way.
func (p *Places) IsIdle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.IsEmpty()
}

// giveFreePlaces places to all that may have one.
func (p *Places) giveFreePlaces() {
	for w, place, ok := p.queue.Next(); ok; w, place, ok = p.queue.Next() {
		w.place = place
		close(w.given)
	}
}

// freeWaiterPlace frees the place of a waiter, or lets it wait no longer.
func (p *Places) freeWaiterPlace(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.given:
		p.queue.End(w.place)
	default:
		p.queue.GiveUp(w)
	}
	p.giveFreePlaces()
}
