package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
)

func TestCompareSites(t *testing.T) {
	const dir = "clusters/edge1/team-a/shop"
	old, changed := tree.Files{"a.yaml": []byte("a: 1\n")}, tree.Files{"a.yaml": []byte("a: 2\n")}
	existing := []rendered{{site: "edge1", path: dir, files: old}}
	cases := map[string]struct {
		reason string
		after  []rendered
		want   []Rendering
	}{
		"Same": {
			reason: "A Site that gets the same has no changes.", after: []rendered{{site: "edge1", path: dir, files: old}},
			want: []Rendering{{Site: "edge1", Path: dir, Changes: []Change{}}},
		},
		"Changed": {
			reason: "A file that changes is shown.", after: []rendered{{site: "edge1", path: dir, files: changed}},
			want: []Rendering{{Site: "edge1", Path: dir, Changes: []Change{{File: dir + "/a.yaml", Diff: "--- a/" + dir + "/a.yaml\n+++ b/" + dir + "/a.yaml\n@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n"}}}},
		},
		"Left": {
			reason: "A Site that is left loses its files.", after: nil,
			want: []Rendering{{Path: dir, Removed: true, Changes: []Change{{File: dir + "/a.yaml", Diff: "--- a/" + dir + "/a.yaml\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a: 1\n"}}}},
		},
		"Waits": {
			reason: "A Site that waits for its cluster keeps its files.", after: []rendered{{site: "edge1", path: dir, waits: true}},
			want: []Rendering{{Site: "edge1", Path: dir, Waits: true, Changes: []Change{}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compareSites(existing, tc.after)); diff != "" {
				t.Errorf("\n%s\ncompareSites(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
