package setup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Memory keeps a note about each object from one reconcile to the next. A lost note costs only the time to compute it again. Only one reconcile at
// a time has the note about an object. No note can be had by a name: an object that is created again under its name has a new note, since the old one
// may name objects that the new one did not make.
type Memory[N any] struct {
	mu      sync.Mutex
	notes   map[types.NamespacedName]ownedNote[N]
	newNote func() *N
}

// An ownedNote is the note about the object with a UID.
type ownedNote[N any] struct {
	uid  types.UID
	note *N
}

// NewMemory returns a Memory without notes. newNote makes each new note.
func NewMemory[N any](newNote func() *N) *Memory[N] {
	return &Memory[N]{notes: map[types.NamespacedName]ownedNote[N]{}, newNote: newNote}
}

// NoteOf returns the note about an object, and creates a missing note.
func (m *Memory[N]) NoteOf(o client.Object) *N {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(o)
	owned := m.notes[key]
	if owned.note == nil || owned.uid != o.GetUID() {
		owned = ownedNote[N]{uid: o.GetUID(), note: m.newNote()}
		m.notes[key] = owned
	}
	return owned.note
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
