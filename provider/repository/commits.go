package repository

import (
	"context"

	"github.com/intentplane/intentplane/provider/git"
)

// FetchCommit returns the trees of a commit, without its history and its files. A fetch that failed is not tried again before its
// backoff ends: until then all callers get the error, for that commit, or for every commit if the repository did not answer. It returns a
// *failure.Error.
func (r *Repository) FetchCommit(ctx context.Context, id string) (*git.Commit, error) {
	if err := r.fetches.ErrorOf(id, r.pool.options.Now()); err != nil {
		return nil, err
	}
	var c *git.Commit
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		c, err = r.currentClient().FetchCommit(ctx, id)
		return err
	})
	r.fetches.Record(id, err, r.pool.options.Now())
	return c, err
}

// ReadCommitFiles returns the files in a directory of a commit, without one entry of the directory. A failure is not tried again before the backoff of the
// commit ends. It returns a *failure.Error.
func (r *Repository) ReadCommitFiles(ctx context.Context, commit *git.Commit, path, excluded string) (map[string][]byte, error) {
	if err := r.fetches.ErrorOf(commit.ID(), r.pool.options.Now()); err != nil {
		return nil, err
	}
	var files map[string][]byte
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		files, err = r.currentClient().ReadCommitFiles(ctx, commit, path, excluded)
		return err
	})
	r.fetches.Record(commit.ID(), err, r.pool.options.Now())
	return files, err
}

// ReadMessagesBetween returns the messages of the commits after an older commit, up to a newer one, that contain some words. Where the newer
// one cannot be fetched, all callers get that error until its backoff ends. It returns a *failure.Error.
func (r *Repository) ReadMessagesBetween(ctx context.Context, newer, older, words string) ([]git.Message, error) {
	if err := r.fetches.ErrorOf(newer, r.pool.options.Now()); err != nil {
		return nil, err
	}
	var out []git.Message
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		out, err = r.currentClient().ReadMessagesBetween(ctx, newer, older, words)
		return err
	})
	r.fetches.Record(newer, err, r.pool.options.Now())
	return out, err
}
