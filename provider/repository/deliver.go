package repository

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

const (
	// maxGroup is how many deliveries go out together, and maxGroupBytes how much they may bring, by and large.
	maxGroup      = 64
	maxGroupBytes = 8 << 20
)

// A refusal is a delivery that the server did not want.
type refusal struct {
	trouble

	version string
}

// Deliver carries out a delivery, together with all others that wait. Without an error it is in the repository, or there was nothing
// to do. It returns a *PendingError if that takes longer than an object may wait, what Plan returned, or a *git.Error.
func (r *Repository) Deliver(ctx context.Context, d Delivery) error {
	if err := r.pool.settle(ctx, d.Object); err != nil {
		return err
	}
	i, err := r.enqueue(d)
	if err != nil {
		return err
	}
	if err := i.wait(ctx, r.patience()); err != nil {
		return err
	}
	return i.err
}

// patience of an object with a push, which comes after a look that waited already.
func (r *Repository) patience() time.Duration {
	r.mu.Lock()
	broken := r.pushes.err != nil
	r.mu.Unlock()
	if broken {
		return min(r.host.wait(), max(time.Second, r.pool.o.Glance))
	}
	return r.host.wait()
}

func (r *Repository) enqueue(d Delivery) (*item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pool.o.Now()
	if err := r.pushes.of(now); err != nil {
		return nil, err
	}
	if old, ok := r.refused[d.Object]; ok && old.version == d.Version {
		if err := old.of(now); err != nil {
			return nil, err
		}
	}
	i := &item{Delivery: d, of: r, asked: now, done: make(chan struct{})}
	if !r.pool.underWay.add(i) {
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot push to the repository: too much of the namespace, or of all, waits to be delivered"}
	}
	r.queue.add(i)
	if !r.working {
		r.working = true
		go r.work()
	}
	return i, nil
}

// withdraw an item that nobody has begun with.
func (r *Repository) withdraw(i *item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i.begun || !r.queue.drop(i) {
		return false
	}
	r.end(i, &PendingError{})
	return true
}

// work until nobody waits. While one push is on its way the next group gathers.
func (r *Repository) work() {
	for more := true; more; {
		leave := r.enterLane()
		group := r.take()
		r.carry(context.Background(), group)
		leave()
		more = len(group) > 0
		r.yield()
	}
}

// enterLane waits for the turn to push to the branch. A push that is slower than its patience gives the turn back, and goes on: who
// pushes meanwhile may lose a race, or win it, but does not wait for a server that does not answer.
func (r *Repository) enterLane() (leave func()) {
	free, err := r.pool.commonsOf(r.namespace).lanes.Acquire(context.Background(), r.lane)
	if err != nil {
		return func() {} // Without an end of the context there is no error.
	}
	late := time.AfterFunc(r.pool.o.Patience, free)
	return func() {
		late.Stop()
		free()
	}
}

// take the next group. Those who were refused before go alone, so that they harm nobody.
func (r *Repository) take() []*item {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := maxGroup
	if r.alone {
		most = 1
	}
	group := []*item{}
	for r.queue.size > 0 && len(group) < most {
		_, suspect := r.refused[r.queue.peek().Object]
		if suspect && len(group) > 0 {
			break
		}
		i := r.queue.next()
		i.begun = true
		group = append(group, i)
		if suspect {
			break
		}
	}
	r.working = len(group) > 0
	return group
}

// finish an item, and tell who waits for it.
func (r *Repository) finish(i *item, err error) {
	r.mu.Lock()
	left := i.left
	r.end(i, err)
	if err == nil {
		delete(r.refused, i.Object)
	}
	r.mu.Unlock()
	if left {
		r.pool.o.Wake(i.Object)
	}
}

func (r *Repository) end(i *item, err error) {
	i.err = err
	close(i.done)
	r.pool.underWay.remove(i)
}

// refuse an item from now on, until it changes or some time has passed.
func (r *Repository) refuse(i *item, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.refused[i.Object]
	if !ok || old.version != i.Version {
		old = &refusal{version: i.Version}
		r.refused[i.Object] = old
	}
	old.note(err, r.pool.o.Now())
}
