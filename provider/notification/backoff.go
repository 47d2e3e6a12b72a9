package notification

import (
	"sync"
	"time"
)

const (
	// firstWait is how long the provider waits after the first post that failed. The wait doubles with each failure, up to mostWait.
	firstWait = time.Second
	mostWait  = 5 * time.Minute
)

// An Attempt is one outcome that is posted to one receiver.
type Attempt struct {
	// ID of the outcome.
	ID string

	// Receiver is the key of the receiver.
	Receiver string
}

// A Backoff says when a post that failed is tried again. A process that begins tries at once. It is safe for concurrent use.
type Backoff struct {
	mu    sync.Mutex
	waits map[Attempt]wait
}

type wait struct {
	until time.Time
	next  time.Duration
	// isOutage is true if the receiver would not take other outcomes either.
	isOutage bool
}

// NewBackoff returns a backoff of which nothing has failed.
func NewBackoff() *Backoff { return &Backoff{waits: map[Attempt]wait{}} }

// Remaining returns how long to wait before an attempt, or 0, and whether the receiver gets nothing else until then.
func (b *Backoff) Remaining(a Attempt, now time.Time) (remaining time.Duration, isOutage bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.waits[a]
	return max(0, w.until.Sub(now)), w.isOutage
}

// Fail records that an attempt failed, with an error of the receiver or of its configuration. It is true for the first time.
func (b *Backoff) Fail(a Attempt, cause error, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, failed := b.waits[a]
	next := min(max(last.next, firstWait), mostWait)
	b.waits[a] = wait{until: now.Add(next), next: 2 * next, isOutage: IsOutage(cause)}
	return !failed
}

// Forget drops what is known of an attempt that is not made again.
func (b *Backoff) Forget(a Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waits, a)
}
