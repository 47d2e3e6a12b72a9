package notification

import (
	"sync"
	"time"
)

const (
	// firstWait is how long the provider waits after the first post that failed. The wait doubles with each failure, up to mostWait.
	firstWait = time.Second
	mostWait  = 5 * time.Minute

	// RetryFor is how long an outcome is posted again to a receiver that does not take it.
	RetryFor = 24 * time.Hour
)

// An Attempt is one outcome that is posted to one receiver.
type Attempt struct {
	// ID of the notification.
	ID string

	// Receiver that it is posted to.
	Receiver ReceiverID
}

// A Backoff says when a post of a deployment that failed is tried again, and which posts ended without a mark, since an earlier one has not ended. A process that
// begins tries at once. It is safe for concurrent use.
type Backoff struct {
	mu    sync.Mutex
	waits map[Attempt]wait
}

type wait struct {
	until time.Time
	next  time.Duration
	// isOutage is true if the receiver would not take other outcomes either.
	isOutage bool
	// hasEnded is true for an outcome that is not posted again.
	hasEnded bool
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

// End records that an outcome is not posted to a receiver again.
func (b *Backoff) End(a Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits[a] = wait{hasEnded: true}
}

// HasEnded reports whether an outcome is not posted to a receiver again.
func (b *Backoff) HasEnded(a Attempt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waits[a].hasEnded
}

// KeepOnly drops everything but the backoff of some attempts. The others are not made again.
func (b *Backoff) KeepOnly(attempts []Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	retained := map[Attempt]wait{}
	for _, a := range attempts {
		if w, isKnown := b.waits[a]; isKnown {
			retained[a] = w
		}
	}
	b.waits = retained
}
