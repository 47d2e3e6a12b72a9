package shares

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQueue(t *testing.T) {
	cases := map[string]struct {
		reason string
		limits Limits
		// asked are requests as host/namespace/name.
		asked []string
		want  string
	}{
		"Turns": {
			reason: "Each host has its turn, and at a host each namespace has.",
			asked:  []string{"h1/a/1", "h1/a/2", "h1/a/3", "h1/b/4", "h2/a/5"},
			want:   "1 5 4 2 3",
		},
		"PerHost": {
			reason: "A host serves no more than its limit.",
			limits: Limits{PerHost: 2},
			asked:  []string{"h1/a/1", "h1/b/2", "h1/c/3", "h2/a/4"},
			want:   "1 4 2",
		},
		"PerNamespace": {
			reason: "A namespace has no more than its share, at however many hosts, and others go on.",
			limits: Limits{PerNamespace: 2},
			asked:  []string{"h1/a/1", "h2/a/2", "h3/a/3", "h4/a/4", "h4/b/5"},
			want:   "1 2 5",
		},
		"PerNamespaceAtHost": {
			reason: "A namespace has no more than its share of a host, and others have the rest.",
			limits: Limits{PerHost: 3, PerNamespaceAtHost: 2},
			asked:  []string{"h1/a/1", "h1/a/2", "h1/a/3", "h1/b/4", "h2/a/5"},
			want:   "1 5 4 2",
		},
		"Together": {
			reason: "The namespaces have no more than the limit together.",
			limits: Limits{Together: 1},
			asked:  []string{"h1/a/1", "h2/b/2"},
			want:   "1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			q := NewQueue[string](tc.limits)
			for _, r := range tc.asked {
				parts := strings.Split(r, "/")
				q.Add(parts[2], parts[0], parts[1])
			}
			got, places := []string{}, []Place{}
			for r, p, ok := q.Next(); ok; r, p, ok = q.Next() {
				got, places = append(got, r), append(places, p)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s\nNext(): -want, +got:\n%s", tc.reason, diff)
			}
			for _, p := range places {
				q.End(p)
			}
			for _, r := range tc.asked {
				q.Drop(strings.Split(r, "/")[2])
			}
			if !q.IsEmpty() {
				t.Errorf("Hosts and namespaces without a request are forgotten.\nIsEmpty(): want true, got %+v", q)
			}
		})
	}
}

func TestQueueServesSharedRequestOnce(t *testing.T) {
	q := NewQueue[string](Limits{})
	q.Add("1", "h", "a", "b")
	first, place, ok := q.Next()
	_, _, hasMore := q.Next()
	if diff := cmp.Diff([]any{"1", Place{Host: "h", Namespace: "a"}, true, false}, []any{first, place, ok, hasMore}); diff != "" {
		t.Errorf("A request that two namespaces want is served once, and the first one pays.\nNext(): -want, +got:\n%s", diff)
	}
}
