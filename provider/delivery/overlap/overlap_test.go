package overlap

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
)

// TestSearchClaim searches a directory whose entries are cached, in a search that has no snapshot to list it.
func TestSearchClaim(t *testing.T) {
	named := NewNames()
	named.cacheFileStems("team-a", "a", stemsOfEntries(map[string]git.Entry{"configmap-shop.yaml": {}, tree.Marker: {}}))
	cases := map[string]struct {
		reason  string
		own     string
		visited int
		want    failure.Class
	}{
		"OtherNames": {reason: "A directory whose files have other names than ours is not listed again.", own: "configmap-cart"},
		"TooMany": {
			reason: "A directory that is not listed again counts as if it were.", own: "configmap-cart", visited: maxCompared - 1, want: failure.ClassTooLarge,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := search{Comparison: Comparison{Names: named}, own: map[string][]policy.Object{tc.own: {{}}}, entries: tc.visited}
			found, err := r.searchClaim(t.Context(), "clusters/edge1/team-a/shop", "a")
			if diff := cmp.Diff(tc.want, failure.ClassOf(err)); found != nil || diff != "" {
				t.Errorf("\n%s\nsearchClaim(...): found %v, -want class, +got class:\n%s", tc.reason, found, diff)
			}
		})
	}
	stems, _ := named.stems.Get("a")
	if r := (&search{own: map[string][]policy.Object{"configmap-shop": {{}}}}); !r.hasClaimStem(stems) {
		t.Error("A directory with a file that may hold one of our objects is listed.")
	}
}

func TestDescribeFor(t *testing.T) {
	const remove, others = "or remove it from the other claim", "a claim of another namespace delivered it there, was deleted, and left its directory"
	cases := map[string]struct {
		reason  string
		overlap Overlap
		want    string
	}{
		"Own": {
			reason: "A tenant learns the name of a claim of its namespace.", overlap: Overlap{Namespace: "team-a", Name: "shop"},
			want: "claim team-a/shop delivers it there already. Give the service another name, " + remove,
		},
		"Other": {
			reason: "A tenant does not learn the name of a claim of another namespace.", overlap: Overlap{Namespace: "team-b", Name: "hidden"},
			want: "a claim of another namespace delivers it there already. Give the service another name, " + remove,
		},
		"OwnOrphaned": {
			reason:  "A tenant may remove the directory of a deleted claim of its namespace.",
			overlap: Overlap{Namespace: "team-a", Name: "shop", IsOrphaned: true},
			want:    "claim team-a/shop delivered it there, was deleted, and left its directory. Give the service another name, or remove that directory from the branch",
		},
		"OtherOrphaned": {
			reason:  "An administrator removes the directory of a deleted claim of another namespace.",
			overlap: Overlap{Namespace: "team-b", Name: "hidden", IsOrphaned: true},
			want:    others + ". Give the service another name, or let an administrator remove that directory from the branch",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.overlap.DescribeFor("team-a")); diff != "" {
				t.Errorf("\n%s\nDescribeFor(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
