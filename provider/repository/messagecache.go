package repository

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository/backoff"
)

// A messageCache has the messages of a branch's commits up to a tip, and the backoff after they could not be read.
type messageCache struct {
	backoff.Backoff

	log *git.MessageLog
}

// ReadMessages returns the messages of the branch's last commits that contain some words. They are read once, and then only newer ones; other
// callers wait meanwhile, for a bounded time. It returns a *failure.Error.
func (r *Repository) ReadMessages(ctx context.Context, s *git.Snapshot, words string) ([]git.Message, error) {
	timer := time.NewTimer(r.host.currentPatience())
	defer timer.Stop()
	select {
	case r.messagesTurn <- struct{}{}:
	case <-timer.C:
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the commits of the repository: it did not answer yet"}
	case <-ctx.Done():
		return nil, &failure.Error{Class: failure.ClassTransient, Detail: "cannot read the commits of the repository: " + ctx.Err().Error()}
	}
	defer func() { <-r.messagesTurn }()
	log := r.knownMessages()
	if log.Covers(s, words) {
		return log.Messages(), nil
	}
	if err := r.messages.CurrentError(r.pool.options.Now()); err != nil {
		return nil, err
	}
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		log, err = r.currentClient().ReadMessages(ctx, s, words, log)
		return err
	})
	r.messages.RecordResult(err, r.pool.options.Now())
	if err != nil {
		return nil, err
	}
	r.keepMessages(log)
	return log.Messages(), nil
}

func (r *Repository) knownMessages() *git.MessageLog {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.messages.log
}

// keepMessages retains the messages, unless the repository is closed, and trims the cache.
func (r *Repository) keepMessages(log *git.MessageLog) {
	r.mu.Lock()
	if !r.closed {
		r.messages.log = log
	}
	r.mu.Unlock()
	r.pool.trimSnapshotCache()
}
