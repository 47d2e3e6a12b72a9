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

// FetchCommit returns the trees of a commit, without its history and its files. What failed is not tried again for a while: until then
// everybody who asks for that commit gets the error, and for every commit if it was the repository that did not answer. It returns a
// *git.Error.
func (r *Repository) FetchCommit(ctx context.Context, id string) (*git.Commit, error) {
	if err := r.commits.failure(id, r.pool.o.Now()); err != nil {
		return nil, err
	}
	var c *git.Commit
	err := r.host.do(ctx, func(ctx context.Context) error {
		var err error
		c, err = r.client().FetchCommit(ctx, id)
		return err
	})
	r.commits.note(id, err, r.pool.o.Now())
	return c, err
}

// fetchFailures are commits that could not be fetched. It is safe for concurrent use.
type fetchFailures struct {
	mu sync.Mutex
	// repository did not answer, or refused.
	repository trouble
	// missing commits, by their ids.
	missing map[string]*trouble
}

// failure returns the error that a fetch of the commit ended with, or nil when there was none or it is time to try again.
func (f *fetchFailures) failure(id string, now time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.repository.of(now); err != nil {
		return err
	}
	if t, ok := f.missing[id]; ok {
		return t.of(now)
	}
	return nil
}

// note how a fetch ended.
func (f *fetchFailures) note(id string, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	class := failure.ClassOf(err)
	if common(err) && class != failure.ClassNotFound {
		f.repository.note(err, now)
		return
	}
	f.repository.note(nil, now) // It answered.
	if err == nil {
		delete(f.missing, id)
		return
	}
	t, ok := f.missing[id]
	if !ok {
		f.makeRoom(now)
		t = &trouble{}
		f.missing[id] = t
	}
	t.note(err, now)
}

// makeRoom for one more: commits that may be tried again are forgotten, and all where that is not enough.
func (f *fetchFailures) makeRoom(now time.Time) {
	if f.missing == nil {
		f.missing = map[string]*trouble{}
	}
	if len(f.missing) < maxMissing {
		return
	}
	maps.DeleteFunc(f.missing, func(_ string, t *trouble) bool { return t.of(now) == nil })
	if len(f.missing) >= maxMissing {
		clear(f.missing)
	}
}
