package repository

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A flight is a look that is under way.
type flight struct {
	began time.Time
	done  chan struct{}
	// What it brought, once it is done.
	snapshot *git.Snapshot
	err      error
}

// Look returns what the repository held at some time since the given one, and asks it only if nobody has, for another object. It
// first waits until nothing of the object is under way. A repository that does not answer is asked again after a while, and until
// then everybody gets the error that it gave. It returns a *git.Error.
func (r *Repository) Look(ctx context.Context, key types.NamespacedName, since time.Time) (*git.Snapshot, error) {
	if err := r.pool.settle(ctx, key); err != nil {
		return nil, err
	}
	s, f, known := r.join(key, since)
	if f == nil {
		return s, known
	}
	wait := r.host.wait()
	if known != nil {
		wait = min(wait, r.pool.o.Glance)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	if known == nil {
		known = &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the repository: it did not answer yet"}
	}
	return r.leave(key, f, known)
}

// join returns what is known, or the look to wait for. With an error the repository did not answer the last time.
func (r *Repository) join(key types.NamespacedName, since time.Time) (*git.Snapshot, *flight, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pool.o.Now()
	r.used = now // Who was found to need nothing looks, and does not open.
	if r.seen != nil && !r.seenAt.Before(since) {
		return r.seen, nil, nil
	}
	if err := r.looks.of(now); err != nil {
		r.absent[key] = struct{}{}
		return nil, nil, err
	}
	broken := r.looks.err
	if r.looking == nil || (r.looking.began.Before(since) && broken == nil) {
		r.looking = &flight{began: now, done: make(chan struct{})}
		go r.fly(r.looking)
	}
	return nil, r.looking, broken
}

// leave with what the look brought, or with an error to be woken later.
func (r *Repository) leave(key types.NamespacedName, f *flight, otherwise error) (*git.Snapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-f.done:
		return f.snapshot, f.err
	default:
		r.absent[key] = struct{}{}
		return nil, otherwise
	}
}

// fly looks at the repository, and tells everybody.
func (r *Repository) fly(f *flight) {
	f.err = r.host.do(context.Background(), func(ctx context.Context) error {
		var err error
		f.snapshot, err = r.look(ctx)
		return err
	})
	for _, key := range r.land(f) {
		r.pool.o.Wake(key)
	}
	r.pool.trim()
}

// land returns who has left and wants to know that the repository answers.
func (r *Repository) land(f *flight) []types.NamespacedName {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(f.done)
	if r.looking == f {
		r.looking = nil
	}
	r.looks.note(f.err, r.pool.o.Now())
	if f.err != nil {
		return nil
	}
	if !f.began.Before(r.seenAt) {
		r.retain(f.snapshot, f.began)
	}
	absent := slices.Collect(maps.Keys(r.absent))
	clear(r.absent)
	return absent
}

// look at the repository, and tell that.
func (r *Repository) look(ctx context.Context) (*git.Snapshot, error) {
	began := r.pool.o.Now()
	s, err := r.search(ctx)
	r.pool.o.Ended(Operation{Name: OperationLook, Err: err, Took: r.pool.o.Now().Sub(began)})
	return s, err
}
