package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMemory keeps the notes about one object apart from the notes about others, until the object is forgotten.
func TestMemory(t *testing.T) {
	m := NewMemory(func() *int { return new(7) })
	firstKey, secondKey := types.NamespacedName{Namespace: "a", Name: "x"}, types.NamespacedName{Namespace: "b", Name: "x"}
	*m.NoteFor(firstKey) = 8
	if diff := cmp.Diff([]int{8, 7, 2}, []int{*m.NoteFor(firstKey), *m.NoteFor(secondKey), m.Size()}); diff != "" {
		t.Errorf("A note is that of one object, and begins as newNote says: -want, +got:\n%s", diff)
	}
	m.ForgetNote(firstKey)
	if diff := cmp.Diff([]int{1, 7}, []int{m.Size(), *m.NoteFor(firstKey)}); diff != "" {
		t.Errorf("A note that was forgotten begins again: -want, +got:\n%s", diff)
	}
}

// TestMemoryOfRecreatedObject reads an object that was deleted and created again under its name.
func TestMemoryOfRecreatedObject(t *testing.T) {
	m, o := NewMemory(func() *int { return new(7) }), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
	*m.NoteFor(client.ObjectKeyFromObject(o)) = 8
	o.UID = "first"
	read := *m.NoteOf(o)
	*m.NoteOf(o) = 9
	again := *m.NoteOf(o)
	o.UID = "second"
	if diff := cmp.Diff([]int{8, 9, 7, 7}, []int{read, again, *m.NoteOf(o), *m.NoteFor(client.ObjectKeyFromObject(o))}); diff != "" {
		t.Errorf("The note of an object goes with its UID.\nNoteOf(...): -want, +got:\n%s", diff)
	}
}
