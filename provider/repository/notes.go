package repository

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// A story is what the commits of a branch say up to a tip, or why that cannot be read.
type story struct {
	trouble

	told *git.MessageLog
}

// Notes returns what the last commits of the branch say that contain some words. They are read once, and then what
// came since; whoever comes meanwhile waits for a bounded time. It returns a *git.Error.
func (r *Repository) Notes(ctx context.Context, s *git.Snapshot, words string) ([]git.Message, error) {
	timer := time.NewTimer(r.host.wait())
	defer timer.Stop()
	select {
	case r.telling <- struct{}{}:
	case <-timer.C:
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the commits of the repository: it did not answer yet"}
	case <-ctx.Done():
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the commits of the repository: " + ctx.Err().Error()}
	}
	defer func() { <-r.telling }()
	told := r.knownChronicle()
	if told.Covers(s, words) {
		return told.Messages(), nil
	}
	if err := r.story.of(r.pool.o.Now()); err != nil {
		return nil, err
	}
	err := r.host.do(ctx, func(ctx context.Context) error {
		var err error
		told, err = r.client().ReadMessages(ctx, s, words, told)
		return err
	})
	r.story.note(err, r.pool.o.Now())
	if err != nil {
		return nil, err
	}
	r.keepChronicle(told)
	return told.Messages(), nil
}

func (r *Repository) knownChronicle() *git.MessageLog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.story.told
}

// keepChronicle keeps what the commits say, unless the repository is closed.
func (r *Repository) keepChronicle(told *git.MessageLog) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.story.told = told
	}
}
