package imagebuild

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

// A note is what is kept about one ImageBuild. Only one reconcile at a time has it.
type note struct {
	// reconciledAt is when it was last reconciled in full.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// stepAt is when the step of a Build was last written.
	stepAt time.Time
	// asked is the look that a user asks for, and askedAt since when that is known.
	asked   string
	askedAt time.Time
	// refusal is the last Image that kpack refused.
	refusal *refusal
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

// askedSince returns since when a user asks for a look that was not done, or zero.
func (n *note) askedSince(asked, done string, now time.Time) time.Time {
	if asked == done {
		return time.Time{}
	}
	if n.asked != asked {
		n.asked, n.askedAt = asked, now
	}
	return n.askedAt
}
