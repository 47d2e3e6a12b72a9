package sitesync

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

// A note is what is kept about one SiteSync. Only one reconcile at a time has it.
type note struct {
	// draft is what the status should be and is not yet. Nil if it is.
	draft *draft
	// looked is when it was last reconciled for good.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// asked are the tokens of the requests that engines got, by Site.
	requested map[string]string
}

func newMemory() *memory {
	return &memory{notes: map[types.NamespacedName]*note{}}
}

func (m *memory) noteFor(key types.NamespacedName) *note {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes[key] == nil {
		m.notes[key] = &note{requested: map[string]string{}}
	}
	return m.notes[key]
}

func (m *memory) forgetSync(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
}
