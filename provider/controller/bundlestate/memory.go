package bundlestate

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A memory is what is kept from one reconcile to the next. Losing it costs a little time, and nothing else.
type memory struct {
	mu    sync.Mutex
	notes map[types.NamespacedName]*note
}

// A note is what is kept about one BundleState. Only one reconcile at a time has it.
type note struct {
	// pendingSince is since when the status is not what it should be. Zero if it is.
	pendingSince time.Time
	// reconciledAt is when it was last reconciled in full.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
}

func newMemory() *memory { return &memory{notes: map[types.NamespacedName]*note{}} }

func (m *memory) noteFor(key types.NamespacedName) *note {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes[key] == nil {
		m.notes[key] = &note{}
	}
	return m.notes[key]
}

func (m *memory) forgetNote(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
}
