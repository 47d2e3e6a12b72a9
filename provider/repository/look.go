package repository

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A sharedLook is a look that is under way, for all objects that wait for it.
type sharedLook struct {
	began time.Time
	done  chan struct{}
	// snapshot and err are its result, once it is done.
	snapshot *git.Snapshot
	err      error
}

// Look returns a snapshot of the repository from the given time or later, and asks the server only if that was not done for another object.
// It first waits until nothing of the object is under way. A repository that does not answer is asked again after its backoff, and until then
// all objects get the error that it gave. It returns a *failure.Error.
func (r *Repository) Look(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error) {
	if err := r.pool.awaitPending(ctx, key); err != nil {
		return nil, err
	}
	s, f, cause := r.joinSharedLook(key, notBefore)
	if f == nil {
		return s.Open(), cause
	}
	wait := r.host.currentPatience()
	if cause != nil {
		wait = min(wait, r.pool.options.QuickPatience)
	}
	return r.awaitSharedLook(ctx, key, f, wait, cause)
}

// askedInterval is the shortest time between two looks that users asked for.
const askedInterval = 2 * time.Second

// LookAgain does the same as Look, for a user who requested it: earlier results do not count, neither a snapshot nor an error in its backoff.
// It looks for all users who asked meanwhile, and not more often than each two seconds. An error that comes before the look has ended does
// not count either: HasLookedSince says so, and the object is woken when it ends.
func (r *Repository) LookAgain(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error) {
	if err := r.pool.awaitPending(ctx, key); err != nil {
		return nil, err
	}
	s, f, err := r.joinAskedLook(key, notBefore)
	if f == nil {
		return s.Open(), err
	}
	return r.awaitSharedLook(ctx, key, f, r.host.currentPatience(), nil)
}

// joinAskedLook returns the result of a look that began since a user's request, or the look to wait for.
func (r *Repository) joinAskedLook(key types.NamespacedName, notBefore time.Time) (*git.Snapshot, *sharedLook, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pool.options.Now()
	r.usedAt = now
	if r.snapshot != nil && !r.snapshotAt.Before(notBefore) {
		return r.snapshot, nil, nil
	}
	if err := r.lookBackoff.Cause(); err != nil && !r.failedLookAt.Before(notBefore) {
		r.waiters[key] = struct{}{}
		return nil, nil, err
	}
	r.askers[key] = struct{}{}
	if r.ongoingLook == nil || r.ongoingLook.began.Before(notBefore) {
		pause := max(0, r.askedLookAt.Add(askedInterval).Sub(now))
		r.askedLookAt = now.Add(pause)
		r.ongoingLook = &sharedLook{began: r.askedLookAt, done: make(chan struct{})}
		go r.runAskedLook(r.ongoingLook, pause)
	}
	return nil, r.ongoingLook, nil
}

// runAskedLook runs a look after a pause.
func (r *Repository) runAskedLook(f *sharedLook, pause time.Duration) {
	if pause > 0 {
		<-r.pool.options.After(pause)
	}
	r.runSharedLook(f)
}

// HasLookedSince reports whether a look that began since a time has ended, with or without an error.
func (r *Repository) HasLookedSince(notBefore time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot != nil && !r.snapshotAt.Before(notBefore) || !r.failedLookAt.IsZero() && !r.failedLookAt.Before(notBefore)
}

// awaitSharedLook waits for a look. Where it does not end in time, the object gets the known error or, if that is nil, the error that the
// repository did not answer yet.
func (r *Repository) awaitSharedLook(ctx context.Context, key types.NamespacedName, f *sharedLook, wait time.Duration, cause error) (*git.Snapshot, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	if cause == nil {
		cause = &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the repository: it did not answer yet"}
	}
	return r.leaveSharedLook(key, f, cause)
}

// joinSharedLook returns the known result, or the look to wait for. With an error the repository did not answer the last time.
func (r *Repository) joinSharedLook(key types.NamespacedName, notBefore time.Time) (*git.Snapshot, *sharedLook, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pool.options.Now()
	r.usedAt = now // The fast path of a delivery looks without opening the repository.
	if r.snapshot != nil && !r.snapshotAt.Before(notBefore) {
		return r.snapshot, nil, nil
	}
	if err := r.lookBackoff.CurrentError(now); err != nil {
		r.waiters[key] = struct{}{}
		return nil, nil, err
	}
	broken := r.lookBackoff.Cause()
	if r.ongoingLook == nil || (r.ongoingLook.began.Before(notBefore) && broken == nil) {
		r.ongoingLook = &sharedLook{began: now, done: make(chan struct{})}
		go r.runSharedLook(r.ongoingLook)
	}
	return nil, r.ongoingLook, broken
}

// leaveSharedLook returns the result of the look, or the other error, after which the object is woken when a look succeeds.
func (r *Repository) leaveSharedLook(key types.NamespacedName, f *sharedLook, otherwise error) (*git.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-f.done:
		return f.snapshot.Open(), f.err
	default:
		r.waiters[key] = struct{}{}
		return nil, otherwise
	}
}

// runSharedLook looks at the repository, and wakes the objects that wait for it to answer.
func (r *Repository) runSharedLook(f *sharedLook) {
	f.err = r.runOperation(context.Background(), func(ctx context.Context) error {
		var err error
		f.snapshot, err = r.lookAtServer(ctx)
		return err
	})
	for _, key := range append(r.recordSharedLook(f), r.takeLookAskers(f)...) {
		r.pool.wakeObject(key)
	}
	r.pool.trimSnapshotCache()
}

// recordSharedLook records the result, and returns the objects to wake because the repository answers.
func (r *Repository) recordSharedLook(f *sharedLook) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(f.done)
	if r.ongoingLook == f {
		r.ongoingLook = nil
	}
	if f.err != nil && f.began.After(r.failedLookAt) {
		r.failedLookAt = f.began
	}
	if f.err != nil && f.began.Before(r.answer.At) {
		return nil // A conversation that began later has ended, and says more of the repository than a look that fails late.
	}
	r.lookBackoff.RecordResult(f.err, r.pool.options.Now())
	r.recordAnswer(f.began, f.err)
	if f.err != nil {
		return nil
	}
	if !f.began.Before(r.snapshotAt) {
		r.retainSnapshot(f.snapshot, f.began)
	}
	absent := slices.Collect(maps.Keys(r.waiters))
	clear(r.waiters)
	return absent
}

// takeLookAskers returns the objects whose users asked for a look, once one has ended that began after the last of them asked.
func (r *Repository) takeLookAskers(f *sharedLook) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.began.Before(r.askedLookAt) {
		return nil
	}
	out := slices.Collect(maps.Keys(r.askers))
	clear(r.askers)
	return out
}

// lookAtServer reads the repository, and reports the operation, unless that was ended to wait for its turn and is run again.
func (r *Repository) lookAtServer(ctx context.Context) (*git.Snapshot, error) {
	began := r.pool.options.Now()
	s, err := r.searchStatePlaces(ctx)
	if errors.Is(ctx.Err(), context.Canceled) {
		return s, err
	}
	r.pool.options.Ended(Operation{Name: OperationLook, Err: err, Took: r.pool.options.Now().Sub(began)})
	return s, err
}
