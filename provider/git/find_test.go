package git

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestStateFilesNamed reads the files of a name from the state, including the uncommitted edits of a draft.
func TestStateFilesNamed(t *testing.T) {
	s := serve(t, map[string]string{"README.md": "hello"})
	c := client(t, s)
	first := Change{
		State:   files("g/ns/one/record.json", "1", "g/ns/two/record.json", "2", "g/ns/two/ledger.json", "l", "record.json", "root"),
		Message: "m", Author: Author{Name: "Intentplane", Email: "intentplane@example.org"}, When: time.Unix(1_700_000_000, 0),
	}
	push(t, c, plan(t, look(t, c), first))
	draft := NewDraft(look(t, c))
	if err := draft.AddState(Change{
		State:   map[string][]byte{"g/ns/one/record.json": nil, "g/ns/two/record.json": []byte("3"), "g/ns/new/record.json": []byte("4")},
		Message: "m", Author: first.Author, When: first.When,
	}); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		at     *Snapshot
		want   map[string][]byte
	}{
		"Pushed": {reason: "Pushed files are read.", at: look(t, c), want: files("", "root", "g/ns/one", "1", "g/ns/two", "2")},
		"Drafted": {
			reason: "Files that a draft removes, changes and adds are reflected.",
			at:     draft.Snapshot(), want: files("", "root", "g/ns/two", "3", "g/ns/new", "4"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := tc.at.StateFilesNamed(t.Context(), "record.json")
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("\n%s\nStateFilesNamed(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}
