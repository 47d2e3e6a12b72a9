package repository

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository/backoff"
)

const (
	// maxBatch is how many deliveries go with one push, and maxBatchBytes how many bytes they may bring, by and large.
	maxBatch      = 64
	maxBatchBytes = 8 << 20
)

// A refusal is the backoff of a delivery that the server refused.
type refusal struct {
	backoff.Backoff

	version string
}

// A failedDelivery is how the delivery of an object ended the last time.
type failedDelivery struct {
	version string
	err     error
}

// lastFailureOf returns how the same version of a delivery failed the last time, with the lock held. It is nil if it did not.
func (r *Repository) lastFailureOf(d Delivery) error {
	if f := r.failed[d.Object]; f.version == d.Version || d.IsAside {
		return f.err
	}
	return nil
}

// recordOutcome records how a delivery ended, with the lock held. An error of its own plan is a decision and no failure of the repository.
func (r *Repository) recordOutcome(d Delivery, err error) {
	var f *failure.Error
	switch {
	case d.IsAside:
	case err == nil:
		delete(r.failed, d.Object)
	case errors.As(err, &f):
		r.failed[d.Object] = failedDelivery{version: d.Version, err: err}
	}
}

// Deliver carries out a delivery, together with all others that wait. Without an error it is in the repository, or there was nothing to do.
// It returns a *PendingError if that takes longer than an object may wait, the error of Plan, or a *failure.Error.
func (r *Repository) Deliver(ctx context.Context, d Delivery) error {
	if err := r.pool.awaitPending(ctx, d.Object); err != nil {
		return err
	}
	i, err := r.enqueueDelivery(d)
	if err != nil {
		return err
	}
	if err := i.awaitResult(ctx, r.pushPatience()); err != nil {
		return err
	}
	return i.err
}

// pushPatience is how long an object waits for a push, which comes after a look that waited already.
func (r *Repository) pushPatience() time.Duration {
	r.mu.Lock()
	broken := r.pushBackoff.Cause() != nil
	r.mu.Unlock()
	if broken {
		return min(r.host.currentPatience(), max(time.Second, r.pool.options.QuickPatience))
	}
	return r.host.currentPatience()
}

func (r *Repository) enqueueDelivery(d Delivery) (*item, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pool.options.Now()
	if err := r.pushBackoff.ErrorSince(d.Asked, now); err != nil {
		r.recordOutcome(d, err)
		return nil, err
	}
	if old, ok := r.refused[d.Object]; ok && old.version == d.Version {
		if err := old.ErrorSince(d.Asked, now); err != nil {
			return nil, err
		}
	}
	i := &item{Delivery: d, repo: r, askedAt: now, done: make(chan struct{})}
	if !r.pool.pending.addPendingItem(i) {
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot push to the repository: too much of the namespace, or of all, waits to be delivered"}
	}
	r.queue.enqueueItem(i)
	if !r.running {
		r.running = true
		go r.pushUntilEmpty()
	}
	return i, nil
}

// withdrawItem drops an item that no batch has. It returns false if one has it.
func (r *Repository) withdrawItem(i *item) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i.begun || !r.queue.dropItem(i) {
		return false
	}
	r.endPendingItem(i, &PendingError{})
	return true
}

// pushUntilEmpty pushes until the queue is empty. While one push is on its way the next group gathers.
func (r *Repository) pushUntilEmpty() {
	for hasMore := true; hasMore; {
		leave := r.acquirePushLane()
		group := r.takeNextGroup()
		r.deliverOrFail(context.Background(), group)
		leave()
		hasMore = len(group) > 0
		r.yieldToOthers()
	}
}

// acquirePushLane waits for the turn to push to the branch. A push that is slower than its patience gives the turn back, and goes on: another
// push may lose a race meanwhile, or win it, but does not wait for a server that does not answer.
func (r *Repository) acquirePushLane() (leave func()) {
	free, err := r.pool.limitsOfNamespace(r.namespace).lanes.Acquire(context.Background(), r.lane)
	if err != nil {
		return func() {} // A context that never ends returns no error.
	}
	late := time.AfterFunc(r.pool.options.Patience, free)
	return func() {
		late.Stop()
		free()
	}
}

// takeNextGroup takes the next group from the queue. A delivery that was refused before goes alone, so that it harms no other one.
func (r *Repository) takeNextGroup() []*item {
	r.mu.Lock()
	defer r.mu.Unlock()
	limit := maxBatch
	if r.serial {
		limit = 1
	}
	group := []*item{}
	for r.queue.size > 0 && len(group) < limit {
		_, suspect := r.refused[r.queue.peekItem().Object]
		if suspect && len(group) > 0 {
			break
		}
		i := r.queue.takeNextItem()
		i.begun = true
		group = append(group, i)
		if suspect {
			break
		}
	}
	r.running = len(group) > 0
	return group
}

// finishAndWake ends an item, and wakes its object if that does not wait any more.
func (r *Repository) finishAndWake(i *item, err error) {
	r.mu.Lock()
	left := i.abandoned
	r.endPendingItem(i, err)
	r.recordOutcome(i.Delivery, err)
	if err == nil {
		delete(r.refused, i.Object)
	}
	r.mu.Unlock()
	if left {
		r.pool.wakeObject(i.Object)
	}
}

func (r *Repository) endPendingItem(i *item, err error) {
	i.err = err
	close(i.done)
	r.pool.pending.removePendingItem(i)
}

// recordRefusal makes the item's object get the error until its version changes or the backoff ends.
func (r *Repository) recordRefusal(i *item, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.refused[i.Object]; old == nil || old.version != i.Version {
		r.refused[i.Object] = &refusal{version: i.Version}
	}
	r.refused[i.Object].RecordResult(err, r.pool.options.Now())
}
