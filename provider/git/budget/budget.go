// Package budget bounds the memory of the answers of Git servers: each operation is at the cost of a namespace, which has its turn.
package budget

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/intentplane/intentplane/provider/memory"
	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// modestBytes limits an answer on the wire, and its objects in memory, that does not wait for other answers.
	modestBytes = 8 << 20

	// readStep is in which steps a modest answer takes memory of the account of the process, in bytes.
	readStep = 1 << 20

	// largeTime is how long a large answer may hold the lane before its rate is looked at, and rateCheckInterval how often it is from then on.
	largeTime         = 10 * time.Second
	rateCheckInterval = time.Second

	// minLargeRate is how many bytes a second a large answer must bring, from when it has the lane, to keep it while another namespace waits.
	// With it no answer holds the lane for longer than the rest of the most that a server may send takes at this rate.
	minLargeRate = 1 << 20

	// maxLastingTurns limits the namespaces whose next turn lasts.
	maxLastingTurns = 1000
)

// A Budget bounds the memory of all operations that share it: modest answers, one large answer at a time, and few large lists of refs. Namespaces pay for all
// of them from the account of the process. Modest answers do not wait for large answers, and the namespaces take turns with large answers, in the lane that
// the account has for them. A large answer that comes slowly gives its turn up while another namespace waits, and the next turn of its namespace lasts as long
// as the answer does: so each answer arrives, however many wait.
type Budget struct {
	lane *largeLane
	// lists are the places of large lists of refs.
	lists *shares.Places
	// account is charged for the operations.
	account shares.Place
}

// A largeLane decides which slow answer keeps the lane of large answers. It is safe for concurrent use.
type largeLane struct {
	patience time.Duration

	mu sync.Mutex
	// lasting are the namespaces whose next slow answer keeps the lane, because their last slow answer gave it up.
	lasting map[string]struct{}
}

// New returns a budget that no operation uses yet.
func New() *Budget {
	return &Budget{
		lane:  &largeLane{patience: largeTime, lasting: map[string]struct{}{}},
		lists: shares.NewPlaces(shares.Limits{Together: listsAtOnce, PerNamespace: 1}),
	}
}

// ForNamespace returns the budget as one namespace uses it, which has its turn. It returns nil for a zero budget.
func (b *Budget) ForNamespace(namespace string) *Budget {
	if b.IsZero() {
		return nil
	}
	return &Budget{lane: b.lane, lists: b.lists, account: shares.Place{Namespace: namespace}}
}

// IsZero reports whether the budget has no account to charge: it is nil, or not one of New.
func (b *Budget) IsZero() bool { return b == nil || b.lane == nil || b.lists == nil }

// Namespace returns the namespace that pays for operations. Empty stands for administrators.
func (b *Budget) Namespace() string { return b.account.Namespace }

// keepsLargeLane decides about a slow answer while another namespace waits: it keeps the lane once after the namespace gave up a turn. Otherwise it gives the lane
// up, and the next slow answer of the namespace keeps it.
func (l *largeLane) keepsLargeLane(namespace string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.lasting[namespace]; ok {
		delete(l.lasting, namespace)
		return true
	}
	if len(l.lasting) >= maxLastingTurns {
		clear(l.lasting)
	}
	l.lasting[namespace] = struct{}{}
	return false
}

// A Share is the part of a budget that one operation uses.
type Share struct {
	budget *Budget
	// giveUp ends the answer that is read.
	giveUp func() error
	free   func()
	// held are the bytes of the account that a modest answer takes.
	held int64
}

// NewShare returns the share of an operation, which uses nothing of the budget yet. GiveUp ends the answer
// that is read.
func NewShare(b *Budget, giveUp func() error) *Share { return &Share{budget: b, giveUp: giveUp} }

// Grow takes memory for so many bytes more, and the lane if an answer is large or the namespace has no memory left. It returns an error if the context ends
// before; the context of an operation of RunInTurn ends if the lane is taken.
func (s *Share) Grow(ctx context.Context, bytes int64) error {
	turn := turnFromContext(ctx)
	if s.free != nil || turn.hasLargeLane() || bytes <= modestBytes && s.takeModestMemory(bytes) {
		return nil
	}
	if turn == nil {
		var err error
		s.free, err = memory.ReserveLarge(ctx, s.budget.Namespace())
		return err
	}
	if free, ok := memory.TryReserveLarge(s.budget.Namespace()); ok {
		s.free = free
		return nil
	}
	turn.endUntilNext()
	return context.Canceled
}

// takeModestMemory takes memory for a modest answer. It returns false if the namespace has none left.
func (s *Share) takeModestMemory(bytes int64) bool {
	if _, ok := memory.TryReserve(s.budget.account.Namespace, bytes); !ok {
		return false
	}
	s.held += bytes
	return true
}

// Release returns the share of the operation to the budget.
func (s *Share) Release() {
	memory.Hold(s.budget.account.Namespace, -s.held)
	s.held = 0
	if s.free != nil {
		s.free()
		s.free = nil
	}
}

// Read reads all of an answer. It returns context.DeadlineExceeded for an abandoned answer.
func (s *Share) Read(ctx context.Context, r io.Reader) (io.ReadSeeker, error) {
	c := &chunkBuffer{}
	for c.size < modestBytes {
		if err := s.Grow(ctx, readStep); err != nil {
			return nil, err
		}
		size := c.size
		if err := c.fillFromReader(io.LimitReader(r, readStep)); err != nil || c.size < size+readStep {
			return c, err
		}
	}
	if err := s.Grow(ctx, modestBytes+1); err != nil {
		return nil, err
	}
	counted := &countingReader{next: r}
	gaveUp, stop := s.giveUpWhenSlow(counted)
	err := c.fillFromReader(counted)
	stop()
	if gaveUp.Load() {
		return nil, context.DeadlineExceeded
	}
	return c, err
}

// giveUpWhenSlow ends the answer if it comes slowly once its patience is over and another namespace waits, until it is stopped.
func (s *Share) giveUpWhenSlow(read *countingReader) (gaveUp *atomic.Bool, stop func()) {
	gaveUp = &atomic.Bool{}
	ctx, cancel := context.WithCancel(context.Background())
	if s.giveUp == nil {
		return gaveUp, cancel
	}
	go func() {
		if s.waitUntilSlow(ctx, read) && !s.budget.lane.keepsLargeLane(s.budget.account.Namespace) {
			gaveUp.Store(true)
			_ = s.giveUp() // Its reader ends with an error.
		}
	}()
	return gaveUp, cancel
}

// waitUntilSlow returns true once the answer is slower than it may be while another namespace waits, and false when the context ends.
func (s *Share) waitUntilSlow(ctx context.Context, read *countingReader) bool {
	began := time.Now()
	for wait := s.budget.lane.patience; ; wait = min(wait, rateCheckInterval) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
			if isBelowRate(read.count.Load(), time.Since(began)) && memory.IsLargeWanted(s.budget.Namespace()) {
				return true
			}
		}
	}
}

// isBelowRate reports whether an answer that brought so many bytes in some time came at less than the rate that keeps the lane.
func isBelowRate(bytes int64, took time.Duration) bool {
	return float64(bytes) < minLargeRate*took.Seconds()
}

// A countingReader counts the bytes that were read. The count may be read at the same time.
type countingReader struct {
	next  io.Reader
	count atomic.Int64
}

// Read reads and counts.
func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.next.Read(p)
	r.count.Add(int64(n))
	return n, err
}
