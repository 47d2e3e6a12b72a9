package setup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// A Memory keeps a note about each object from one reconcile to the next. Losing it costs a little time, and nothing else. Only one reconcile at a time
// has the note about an object.
type Memory[N any] struct {
	mu      sync.Mutex
	notes   map[types.NamespacedName]*N
	newNote func() *N
}

// NewMemory returns a Memory without notes. newNote makes each new note.
func NewMemory[N any](newNote func() *N) *Memory[N] {
	return &Memory[N]{notes: map[types.NamespacedName]*N{}, newNote: newNote}
}

// NoteFor returns the note about an object, and creates a missing note.
func (m *Memory[N]) NoteFor(key types.NamespacedName) *N {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes[key] == nil {
		m.notes[key] = m.newNote()
	}
	return m.notes[key]
}

// ForgetNote drops the note of an object.
func (m *Memory[N]) ForgetNote(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.notes, key)
}

// Size is the number of objects with notes.
func (m *Memory[N]) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.notes)
}
