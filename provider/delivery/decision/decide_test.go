package decision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// TestNamingRemoved adds the removed directories to a refusal.
func TestNamingRemoved(t *testing.T) {
	removes := Decision{Action: ActionCommit, Remove: []string{"b", "a"}}
	writes := Decision{Action: ActionCommit, Remove: []string{"a"}, Put: map[string]tree.Files{"b": nil}}
	cases := map[string]struct {
		reason   string
		decision Decision
		message  string
		want     string
	}{
		"Removes":   {reason: "A commit that only removes directories names them.", decision: removes, message: "no access", want: "removing a, b: no access"},
		"NoMessage": {reason: "Without a message, only the directories are named.", decision: removes, want: "removing a, b"},
		"Writes":    {reason: "A commit that writes trees is about these.", decision: writes, message: "no access", want: "no access"},
		"Nothing":   {reason: "A decision without a commit removes nothing.", decision: Decision{Remove: []string{"a"}}, message: "no access", want: "no access"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.decision.NamingRemoved(tc.message)); diff != "" {
				t.Errorf("\n%s\nNamingRemoved(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAddDirectoryTree requests a tree at an applied position, in a directory with another tree.
func TestAddDirectoryTree(t *testing.T) {
	treeWith := func(id string) state.Tree {
		return state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Site: "edge1", Path: webAtE1, Tree: id, Revision: 1}}
	}
	cases := map[string]struct {
		reason   string
		change   func(*Facts)
		more     bool
		revision int64
	}{
		"Drift": {
			reason: "A directory that had the tree, and does not have it any more, has drifted, and keeps the revision that delivered the tree.",
			change: func(f *Facts) { f.Memory.Trees = []state.Tree{treeWith("t1")} }, revision: 1,
		},
		"Other": {
			reason: "A directory that had another tree is asked for more.",
			change: func(f *Facts) { f.Memory.Trees = []state.Tree{treeWith("t0")} }, more: true, revision: 2,
		},
		"New":     {reason: "A directory that the state does not have is asked for more.", change: func(*Facts) {}, more: true, revision: 2},
		"Rebuilt": {reason: "A state that was rebuilt from commits does not have the previous request.", change: func(f *Facts) { f.Rebuilt = true }, revision: 2},
		"Lost":    {reason: "Without a state the previous request is unknown.", change: func(f *Facts) { f.Memory = nil }, revision: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, d := appliedFacts(), Decision{Put: map[string]tree.Files{}}
			tc.change(&f)
			d.addDirectoryTree(f, v1alpha1.Tree{Site: "edge1", Branch: "main", Path: webAtE1, Action: v1alpha1.ActionDesired, Tree: "t1"})
			if _, isPut := d.Put[webAtE1]; !isPut || d.asksForMore != tc.more || d.Trees[0].Revision != tc.revision {
				t.Errorf("\n%s\naddDirectoryTree(...): want more %t, revision %d, got %+v", tc.reason, tc.more, tc.revision, d)
			}
		})
	}
}
