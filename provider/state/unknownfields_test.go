package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRetainUnknown writes back fields that a newer version wrote, each to the item of a list that it is about.
func TestRetainUnknown(t *testing.T) {
	type object = map[string]any
	list := func(items ...any) object { return object{"list": items} }
	cases := map[string]struct {
		reason           string
		next, was, knows object
		want             object
	}{
		"Directory": {
			reason: "A field of one directory does not move to another directory of the same revision.",
			next:   list(object{"path": "b", "branch": "main", "revision": 1}, object{"path": "a", "branch": "main", "revision": 1}),
			was:    list(object{"path": "a", "branch": "main", "revision": 1, "later": "of a"}, object{"path": "b", "branch": "main", "revision": 1}),
			knows:  list(object{"path": "a", "branch": "main", "revision": 1}, object{"path": "b", "branch": "main", "revision": 1}),
			want:   list(object{"path": "b", "branch": "main", "revision": 1}, object{"path": "a", "branch": "main", "revision": 1, "later": "of a"}),
		},
		"Event": {
			reason: "A field of an event stays with the event of its number.",
			next:   list(object{"seq": 2}, object{"seq": 3}),
			was:    list(object{"seq": 1}, object{"seq": 2, "later": "of 2"}),
			knows:  list(object{"seq": 1}, object{"seq": 2}),
			want:   list(object{"seq": 2, "later": "of 2"}, object{"seq": 3}),
		},
		"Nameless": {
			reason: "Items without a name are not taken for one another.",
			next:   list(object{"weight": 1}),
			was:    list(object{"weight": 1, "later": "x"}),
			knows:  list(object{"weight": 1}),
			want:   list(object{"weight": 1}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			retainUnknown(tc.next, tc.was, tc.knows)
			if diff := cmp.Diff(tc.want, tc.next); diff != "" {
				t.Errorf("\n%s\nretainUnknown(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
