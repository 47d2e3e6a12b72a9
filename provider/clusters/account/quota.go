package account

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/intentplane/intentplane/provider/memory"
)

// A Quota is memory that several stores share. A nil Quota gives any memory that is taken.
type Quota struct {
	bound int64
	used  *atomic.Int64
	// count counts the memory in the account of the process.
	count func(bytes int64)
	// home is the memory that the namespaces of the provider's own cluster share, and takes the place of count for them. Nil for another cluster.
	home *homeMemory
}

// newMemoryQuota returns a quota that nothing uses yet. Memory that stores have not given back counts until nothing refers to the quota any more. The account of the
// process counts it, and lets no answer wait for it: a fleet of Sites watches more for good than all answers may have.
func newMemoryQuota(bound int64) *Quota {
	q := &Quota{bound: bound, used: &atomic.Int64{}, count: memory.CountBounded}
	runtime.AddCleanup(q, func(used *atomic.Int64) { memory.CountBounded(-used.Load()) }, q.used)
	return q
}

// newHomeQuota returns the quota of objects of one namespace of the provider's own cluster. It has a bound, since tenants write objects there, too, and all
// namespaces together have another one.
func newHomeQuota(bound int64, home *homeMemory) *Quota {
	q := &Quota{bound: bound, used: &atomic.Int64{}, home: home}
	runtime.AddCleanup(q, func(used *atomic.Int64) { _ = home.takeHomeMemory(used, bound, -used.Load()) }, q.used)
	return q
}

// A homeMemory is the memory that the namespaces of the provider's own cluster share, beyond the memory that is guaranteed to each.
type homeMemory struct {
	guaranteed, bound int64

	mu sync.Mutex
	// used is the memory beyond the guarantee.
	used int64
}

// takeHomeMemory takes memory for a namespace, which uses some and has a limit, or gives it back if it is negative. It returns an AnswerError if the namespace, or
// all namespaces together, have no more.
func (h *homeMemory) takeHomeMemory(used *atomic.Int64, limit, bytes int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := used.Load()
	change := max(0, before+bytes-h.guaranteed) - max(0, before-h.guaranteed)
	switch {
	case bytes > 0 && before+bytes > limit:
		return exceededError(limit)
	case change > 0 && h.used+change > h.bound:
		return &AnswerError{Detail: fmt.Sprintf("the watched objects take more than %s of memory in this namespace, and more than %s in all namespaces",
			formatByteSize(h.guaranteed), formatByteSize(h.bound))}
	}
	h.used += change
	used.Add(bytes)
	return nil
}

// Used returns the memory that was taken, for tests.
func (q *Quota) Used() int64 { return q.used.Load() }

// Bound returns the memory that the quota has.
func (q *Quota) Bound() int64 { return q.bound }

// Take takes memory, or gives it back if it is negative. It returns an AnswerError if that is more than there is.
func (q *Quota) Take(bytes int64) error {
	switch {
	case q == nil:
		return nil
	case q.home != nil:
		return q.home.takeHomeMemory(q.used, q.bound, bytes)
	}
	if used := q.used.Add(bytes); bytes <= 0 || used <= q.bound {
		q.count(bytes)
		return nil
	}
	q.used.Add(-bytes)
	return exceededError(q.bound)
}

// ExceededError returns the AnswerError for objects that take more memory than the quota has.
func (q *Quota) ExceededError() error { return exceededError(q.bound) }

func exceededError(bound int64) error {
	return &AnswerError{Detail: fmt.Sprintf("the objects that are watched take more than %s of memory", formatByteSize(bound))}
}
