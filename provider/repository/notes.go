package repository

import (
	"context"
	"time"

	"github.com/intentplane/intentplane/provider/git"
)

// A story is what the commits of a branch say up to a tip, or why that cannot be read.
type story struct {
	trouble

	tip   string
	words string
	notes []git.Note
}

// Notes returns what the last commits of the branch say that contain some words. They are read once for each tip; whoever comes
// meanwhile waits for a bounded time. It returns a *git.Error.
func (r *Repository) Notes(ctx context.Context, s *git.Snapshot, words string) ([]git.Note, error) {
	timer := time.NewTimer(r.host.wait())
	defer timer.Stop()
	select {
	case r.telling <- struct{}{}:
	case <-timer.C:
		return nil, &git.Error{Class: git.ClassTransient, Detail: "cannot read the commits of the repository: it did not answer yet"}
	case <-ctx.Done():
		return nil, &git.Error{Class: git.ClassTransient, Detail: "cannot read the commits of the repository: " + ctx.Err().Error()}
	}
	defer func() { <-r.telling }()
	if r.told.tip == s.Tip() && r.told.words == words {
		return r.told.notes, nil
	}
	if err := r.told.of(r.pool.o.Now()); err != nil {
		return nil, err
	}
	var notes []git.Note
	err := r.host.do(ctx, func(ctx context.Context) error {
		var err error
		notes, err = r.client().Notes(ctx, s, words)
		return err
	})
	r.told.note(err, r.pool.o.Now())
	if err == nil {
		r.told.tip, r.told.words, r.told.notes = s.Tip(), words, notes
	}
	return notes, err
}
