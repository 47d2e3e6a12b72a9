package setup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Memory keeps a note about each object from one reconcile to the next. Losing it costs a little time, and nothing else. Only one reconcile at a time
// has the note about an object. An object that is created again under its name has a new note: the old one may name objects that the new one did not make.
type Memory[N any] struct {
	mu      sync.Mutex
	notes   map[types.NamespacedName]*ownedNote[N]
	newNote func() *N
}

// An ownedNote is the note about the object with a UID. The UID is empty until the object was read.
type ownedNote[N any] struct {
	uid  types.UID
	note *N
}

// NewMemory returns a Memory without notes. newNote makes each new note.
func NewMemory[N any](newNote func() *N) *Memory[N] {
	return &Memory[N]{notes: map[types.NamespacedName]*ownedNote[N]{}, newNote: newNote}
}

// NoteOf returns the note about an object, and creates a missing note.
func (m *Memory[N]) NoteOf(o client.Object) *N {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(o)
	if owned := m.notes[key]; owned != nil && owned.uid != "" && owned.uid != o.GetUID() {
		delete(m.notes, key)
	}
	owned := m.noteAt(key)
	owned.uid = o.GetUID()
	return owned.note
}

// NoteFor returns the note about the object of a name, and creates a missing note. Use NoteOf where the object is known.
func (m *Memory[N]) NoteFor(key types.NamespacedName) *N {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.noteAt(key).note
}

// noteAt returns the note at a name, with the lock held.
func (m *Memory[N]) noteAt(key types.NamespacedName) *ownedNote[N] {
	if m.notes[key] == nil {
		m.notes[key] = &ownedNote[N]{note: m.newNote()}
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
