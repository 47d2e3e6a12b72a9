package tenantcache

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCache(t *testing.T) {
	const kib = 1024 - itemOverhead - len("team-a/0")
	type put struct {
		namespace, key string
		size           int
	}
	several := func(namespace string, n, size int) []put {
		out := []put{}
		for i := range n {
			out = append(out, put{namespace, fmt.Sprintf("%s/%d", namespace, i), size})
		}
		return out
	}
	cases := map[string]struct {
		reason string
		puts   []put
		want   map[string]bool
	}{
		"Fits": {
			reason: "Items that fit are cached.", puts: several("team-a", 4, kib),
			want: map[string]bool{"team-a/0": true, "team-a/3": true},
		},
		"Oldest": {
			reason: "The cache counts bytes, not items: it evicts the least recently used item.", puts: several("team-a", 5, kib),
			want: map[string]bool{"team-a/0": false, "team-a/1": true, "team-a/4": true},
		},
		"Greedy": {
			reason: "The namespace with the most bytes loses its own items, and no items of others.",
			puts:   append(several("team-b", 1, kib), several("team-a", 9, kib)...),
			want:   map[string]bool{"team-b/0": true, "team-a/8": true, "team-a/5": false},
		},
		"TooLarge": {
			reason: "An item larger than the cache is not cached, and evicts nothing of another namespace.",
			puts:   append(several("team-b", 1, kib), put{"team-a", "team-a/0", 100 * kib}),
			want:   map[string]bool{"team-b/0": true, "team-a/0": false},
		},
		"Again": {
			reason: "An item that is put again counts once.",
			puts:   append(several("team-a", 3, kib), several("team-a", 4, kib)...),
			want:   map[string]bool{"team-a/0": true, "team-a/3": true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := New[string](4096)
			for _, p := range tc.puts {
				c.Put(p.namespace, p.key, p.key, p.size)
			}
			got := map[string]bool{}
			for key := range tc.want {
				value, ok := c.Get(key)
				got[key] = ok && value == key
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nget(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
