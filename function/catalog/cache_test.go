package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCache resolves with a Cache that resolved another query before, and compares with the result without a Cache.
func TestCache(t *testing.T) {
	blueprint := encoded(blueprintOf("web-1.0.0", "web"))
	cases := map[string]struct {
		reason string
		query  Query
		change Answers
		isSame bool
	}{
		"Same": {reason: "Equal objects give an equal selection under one key.", query: query(nil), isSame: true},
		"Site": {
			reason: "Another Site under the same name is decoded, and has another key.", query: query(nil),
			change: Answers{"site/edge1": encoded(site("edge1", own("default")))},
		},
		"TwoTypes": {
			reason: "One Blueprint that is pinned and in the channel is decoded in full and by its metadata.",
			query:  query(func(q *Query) { q.Pinned = "web-1.0.0" }), change: Answers{"blueprint/web-1.0.0": blueprint, needBlueprint: blueprint},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := NewCache(1 << 20)
			first, _, err := c.Resolve(query(nil), answers(nil))
			if err != nil || first == nil {
				t.Fatalf("Resolve(...): %v, %v", first, err)
			}
			got, needs, err := c.Resolve(tc.query, answers(tc.change))
			if err != nil {
				t.Fatal(err)
			}
			if isSame := got.Key == first.Key; isSame != tc.isSame {
				t.Errorf("\n%s\nResolve(...): want the same key: %t, got %t", tc.reason, tc.isSame, isSame)
			}
			want, wantNeeds, err := Resolve(tc.query, answers(tc.change))
			if err != nil {
				t.Fatal(err)
			}
			want.Key = got.Key
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(wantNeeds, needs); diff != "" {
				t.Errorf("\n%s\nResolve(...): -want needs, +got needs:\n%s", tc.reason, diff)
			}
		})
	}
}
