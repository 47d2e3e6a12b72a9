package repository

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// maxMissing is how many commits one repository remembers that could not be fetched.
const maxMissing = 1000

// FetchCommit returns the trees of a commit, without its history and its files. A fetch that failed is not tried again before its
// backoff ends: until then all callers get the error, for that commit, or for every commit if the repository did not answer. It returns a
// *failure.Error.
func (r *Repository) FetchCommit(ctx context.Context, id string) (*git.Commit, error) {
	if err := r.fetches.errorOfCommit(id, r.pool.options.Now()); err != nil {
		return nil, err
	}
	var c *git.Commit
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		c, err = r.currentClient().FetchCommit(ctx, id)
		return err
	})
	r.fetches.recordFetch(id, err, r.pool.options.Now())
	return c, err
}

// ReadCommitFiles returns the files in a directory of a commit, without one entry of the directory. A failure is not tried again before the backoff of the
// commit ends. It returns a *failure.Error.
func (r *Repository) ReadCommitFiles(ctx context.Context, commit *git.Commit, path, excluded string) (map[string][]byte, error) {
	if err := r.fetches.errorOfCommit(commit.ID(), r.pool.options.Now()); err != nil {
		return nil, err
	}
	var files map[string][]byte
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		files, err = r.currentClient().ReadCommitFiles(ctx, commit, path, excluded)
		return err
	})
	r.fetches.recordFetch(commit.ID(), err, r.pool.options.Now())
	return files, err
}

// ReadMessagesBetween returns the messages of the commits after an older commit, up to a newer one, that contain some words. Where the newer
// one cannot be fetched, all callers get that error until its backoff ends. It returns a *failure.Error.
func (r *Repository) ReadMessagesBetween(ctx context.Context, newer, older, words string) ([]git.Message, error) {
	if err := r.fetches.errorOfCommit(newer, r.pool.options.Now()); err != nil {
		return nil, err
	}
	var out []git.Message
	err := r.runOperation(ctx, func(ctx context.Context) error {
		var err error
		out, err = r.currentClient().ReadMessagesBetween(ctx, newer, older, words)
		return err
	})
	r.fetches.recordFetch(newer, err, r.pool.options.Now())
	return out, err
}

// fetchFailures are commits that could not be fetched. It is safe for concurrent use.
type fetchFailures struct {
	mu sync.Mutex
	// repository is the backoff of a repository that did not answer, or refused.
	repository backoff
	// missing are the backoffs of commits, by their ids.
	missing map[string]*backoff
}

// errorOfCommit returns the error that a fetch of the commit ended with, or nil when there was none or it is time to try again.
func (f *fetchFailures) errorOfCommit(id string, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.repository.currentError(now); err != nil {
		return err
	}
	if t, ok := f.missing[id]; ok {
		return t.currentError(now)
	}
	return nil
}

// recordFetch records how a fetch ended.
func (f *fetchFailures) recordFetch(id string, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	class := failure.ClassOf(err)
	if isSharedFailure(err) && class != failure.ClassNotFound {
		f.repository.recordResult(err, now)
		return
	}
	f.repository.recordResult(nil, now) // It answered.
	if err == nil {
		delete(f.missing, id)
		return
	}
	t, ok := f.missing[id]
	if !ok {
		f.makeRoomForCommit(now)
		t = &backoff{}
		f.missing[id] = t
	}
	t.recordResult(err, now)
}

// makeRoomForCommit makes room for one more commit: it drops commits that may be tried again, and all if that is not enough.
func (f *fetchFailures) makeRoomForCommit(now time.Time) {
	if f.missing == nil {
		f.missing = map[string]*backoff{}
	}
	if len(f.missing) < maxMissing {
		return
	}
	maps.DeleteFunc(f.missing, func(_ string, t *backoff) bool { return t.currentError(now) == nil })
	if len(f.missing) >= maxMissing {
		clear(f.missing)
	}
}
