package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestLimitFormer(t *testing.T) {
	at := func(branch, path string) Tree {
		return Tree{Branch: branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}}
	}
	large := []Tree{at("main", strings.Repeat("a", maxFormerBytes/2)), at("main", strings.Repeat("b", maxFormerBytes/2)), at("main", "c")}
	var branches, many []Tree
	for i := range maxFormer + 1 {
		branches, many = append(branches, at(fmt.Sprint("b", i), "a")), append(many, at("main", fmt.Sprint(i)))
	}
	cases := map[string]struct {
		reason string
		former []Tree
		trees  int
		want   []Tree
	}{
		"Large":    {reason: "Paths are remembered as long as all of them together fit.", former: large, want: large[:2]},
		"Branches": {reason: "Directories of as many branches as a status shows are remembered.", former: branches, want: branches[:maxFormerBranches]},
		"Many":     {reason: "The number of remembered directories of former branches is limited.", former: many, want: many[:maxFormer]},
		"LastOne":  {reason: "Directories are remembered until there are as many as an entry can have.", former: many, trees: maxFormerAndTrees - 1, want: many[:1]},
		"Twice": {
			reason: "A directory of a branch is remembered once.",
			former: []Tree{at("main", "a"), at("main", "a"), at("main", "b")}, want: []Tree{at("main", "a"), at("main", "b")},
		},
		"Incomplete": {
			reason: "A directory without a branch or a path is left out.",
			former: []Tree{at("", "a"), at("main", ""), at("main", "b")}, want: []Tree{at("main", "b")},
		},
		"NoRoom": {
			reason: "An entry with as many trees as it can have remembers no directories of former branches.",
			former: []Tree{at("main", "a")}, trees: maxFormerAndTrees,
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
	at := func(branch, path string) Tree {
		return Tree{Branch: branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}}
	}
	r := RecordFile{Former: []Tree{at("old", "b"), at("older", "c"), at("old", "a")}}
	want := []deliveryv1alpha1.FormerBranch{{Branch: "old", Paths: []string{"a", "b"}}, {Branch: "older", Paths: []string{"c"}}}
	if diff := cmp.Diff(want, r.ShownFormer()); diff != "" {
		t.Errorf("ShownFormer(): -want, +got:\n%s", diff)
	}
}
