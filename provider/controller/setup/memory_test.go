package setup

import (
	"reflect"
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
	first, second := secretOf("a", "u1"), secretOf("b", "u2")
	*m.NoteOf(first) = 8
	if diff := cmp.Diff([]int{8, 7, 2}, []int{*m.NoteOf(first), *m.NoteOf(second), m.Size()}); diff != "" {
		t.Errorf("A note is that of one object, and begins as newNote says: -want, +got:\n%s", diff)
	}
	m.ForgetNote(client.ObjectKeyFromObject(first))
	if diff := cmp.Diff([]int{1, 7}, []int{m.Size(), *m.NoteOf(first)}); diff != "" {
		t.Errorf("A note that was forgotten begins again: -want, +got:\n%s", diff)
	}
}

// TestMemoryOfRecreatedObject reads an object that was deleted and created again under its name.
func TestMemoryOfRecreatedObject(t *testing.T) {
	m := NewMemory(func() *int { return new(7) })
	*m.NoteOf(secretOf("a", "u1")) = 8
	if diff := cmp.Diff([]int{8, 7, 1}, []int{*m.NoteOf(secretOf("a", "u1")), *m.NoteOf(secretOf("a", "u2")), m.Size()}); diff != "" {
		t.Errorf("The note of an object goes with its UID.\nNoteOf(...): -want, +got:\n%s", diff)
	}
}

// TestNotesAreOfObjects looks for a way to have a note by the name of an object.
func TestNotesAreOfObjects(t *testing.T) {
	m := reflect.TypeFor[*Memory[int]]()
	for method := range m.Methods() {
		takesObject := method.Type.NumIn() == 2 && method.Type.In(1) == reflect.TypeFor[client.Object]()
		for result := range method.Type.Outs() {
			if result == reflect.TypeFor[*int]() && !takesObject {
				t.Errorf("A note is about an object, and a name may be that of another object by now.\n%s returns a note", method.Name)
			}
		}
	}
}

func secretOf(namespace, uid string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x", UID: types.UID(uid)}}
}
