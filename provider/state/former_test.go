package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestLimitFormer(t *testing.T) {
	formerAt := func(branch, path string) Tree {
		return Tree{Branch: branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}}
	}
	large := []Tree{formerAt("main", strings.Repeat("a", maxFormerBytes/2)), formerAt("main", strings.Repeat("b", maxFormerBytes/2)), formerAt("main", "c")}
	var branches, trees []Tree
	for i := range maxFormer + 1 {
		branches, trees = append(branches, formerAt(fmt.Sprint("b", i), "a")), append(trees, formerAt("main", fmt.Sprint(i)))
	}
	cases := map[string]struct {
		reason string
		former []Tree
		trees  int
		want   []Tree
	}{
		"Large":    {reason: "Paths are remembered as long as all of them together fit.", former: large, want: large[:2]},
		"Branches": {reason: "Directories of as many branches as a status shows are remembered.", former: branches, want: branches[:maxFormerBranches]},
		"Many":     {reason: "The number of remembered directories of former branches is limited.", former: trees, want: trees[:maxFormer]},
		"LastOne": {
			reason: "Directories are remembered until there are as many as an entry can have.",
			former: trees, trees: maxFormerAndTrees - 1, want: trees[:1],
		},
		"Twice": {
			reason: "A directory of a branch is remembered once.",
			former: []Tree{formerAt("main", "a"), formerAt("main", "a"), formerAt("main", "b")}, want: []Tree{formerAt("main", "a"), formerAt("main", "b")},
		},
		"Incomplete": {
			reason: "A directory without a branch or a path is left out.",
			former: []Tree{formerAt("", "a"), formerAt("main", ""), formerAt("main", "b")}, want: []Tree{formerAt("main", "b")},
		},
		"NoRoom": {
			reason: "An entry with as many trees as it can have remembers no directories of former branches.",
			former: []Tree{formerAt("main", "a")}, trees: maxFormerAndTrees,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, LimitFormer(tc.former, tc.trees)); diff != "" {
				t.Errorf("\n%s\nLimitFormer(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestShownFormer shows the directories of each former branch together.
func TestShownFormer(t *testing.T) {
	formerAt := func(branch, path string) Tree {
		return Tree{Branch: branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}}
	}
	r := RecordFile{Former: []Tree{formerAt("old", "b"), formerAt("older", "c"), formerAt("old", "a")}}
	want := []deliveryv1alpha1.FormerBranch{{Branch: "old", Paths: []string{"a", "b"}}, {Branch: "older", Paths: []string{"c"}}}
	if diff := cmp.Diff(want, r.ShownFormer()); diff != "" {
		t.Errorf("ShownFormer(): -want, +got:\n%s", diff)
	}
}
