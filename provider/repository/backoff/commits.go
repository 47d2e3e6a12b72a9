package backoff

import (
	"maps"
	"sync"
	"time"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// maxMissing limits the commits with a backoff.
const maxMissing = 1000

// Commits has the backoffs of commits that could not be fetched. The zero value has none. It is safe for concurrent use.
type Commits struct {
	mu sync.Mutex
	// repository is the backoff of a repository that did not answer, or refused.
	repository Backoff
	// missing are the backoffs of commits, by their ids.
	missing map[string]*Backoff
}

// ErrorOf returns the error that a fetch of the commit ended with, or nil if it succeeded or it is time to try again.
func (c *Commits) ErrorOf(id string, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.repository.CurrentError(now); err != nil {
		return err
	}
	if b, ok := c.missing[id]; ok {
		return b.CurrentError(now)
	}
	return nil
}

// Record records the result of a fetch of the commit.
func (c *Commits) Record(id string, err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	class := failure.ClassOf(err)
	if IsShared(err) && class != failure.ClassNotFound {
		c.repository.RecordResult(err, now)
		return
	}
	c.repository.RecordResult(nil, now) // It answered.
	if err == nil {
		delete(c.missing, id)
		return
	}
	b, ok := c.missing[id]
	if !ok {
		c.makeRoomForCommit(now)
		b = &Backoff{}
		c.missing[id] = b
	}
	b.RecordResult(err, now)
}

// makeRoomForCommit makes room for one more commit: it drops commits that may be tried again, and all if that is not enough.
func (c *Commits) makeRoomForCommit(now time.Time) {
	if c.missing == nil {
		c.missing = map[string]*Backoff{}
	}
	if len(c.missing) < maxMissing {
		return
	}
	maps.DeleteFunc(c.missing, func(_ string, b *Backoff) bool { return b.CurrentError(now) == nil })
	if len(c.missing) >= maxMissing {
		clear(c.missing)
	}
}
