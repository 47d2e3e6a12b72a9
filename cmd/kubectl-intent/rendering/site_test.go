package rendering

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/tree"
)

func TestCompareSites(t *testing.T) {
	const dir = "clusters/edge1/team-a/shop"
	old, changed := tree.Files{"a.yaml": []byte("a: 1\n")}, tree.Files{"a.yaml": []byte("a: 2\n")}
	existing := []Site{{Name: "edge1", Path: dir, Files: old}}
	cases := map[string]struct {
		reason string
		after  []Site
		want   []Report
	}{
		"Same": {
			reason: "A Site that gets the same has no changes.", after: []Site{{Name: "edge1", Path: dir, Files: old}},
			want: []Report{{Site: "edge1", Path: dir, Changes: []Change{}}},
		},
		"Changed": {
			reason: "A file that changes is shown.", after: []Site{{Name: "edge1", Path: dir, Files: changed}},
			want: []Report{
				{
					Site: "edge1", Path: dir,
					Changes: []Change{
						{File: dir + "/a.yaml", Diff: "--- a/" + dir + "/a.yaml\n+++ b/" + dir + "/a.yaml\n@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n"},
					},
				},
			},
		},
		"Left": {
			reason: "A Site that is left loses its files.", after: nil,
			want: []Report{
				{
					Path: dir, Removed: true,
					Changes: []Change{{File: dir + "/a.yaml", Diff: "--- a/" + dir + "/a.yaml\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a: 1\n"}},
				},
			},
		},
		"Waits": {
			reason: "A Site that waits for its cluster keeps its files.", after: []Site{{Name: "edge1", Path: dir, Waits: true}},
			want: []Report{{Site: "edge1", Path: dir, Waits: true, Changes: []Change{}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, CompareSites(existing, tc.after)); diff != "" {
				t.Errorf("\n%s\ncompareSites(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
