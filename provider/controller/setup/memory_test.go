package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
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
