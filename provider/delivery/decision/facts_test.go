package decision

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// appliedFacts are the facts of a delivery with revision 2 applied by this control plane, by state and status.
func appliedFacts() Facts {
	position := ledger.Position{Epoch: 1, Revision: 2}
	f := Facts{
		Config:   &configv1alpha1.ProviderConfigSpec{},
		Marker:   marker.Marker{ClusterUID: "this"},
		InBranch: map[string]bool{"base": true, "commit": true},
		Memory: &state.RecordFile{
			Header: state.Header{ClusterUID: "this"}, Base: "base", Commit: "commit",
			LedgerRecord: v1alpha1.LedgerRecord{Position: position, Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4}},
		},
	}
	f.Config.Git.URL, f.Config.Git.Branch = "https://git", "main"
	f.Recording.Applied = ledger.State{Head: f.Memory.Head, Current: &ledger.Revision{Number: 2}}
	f.LastStatus.Record, f.LastStatus.Remote = &v1alpha1.LedgerRecord{Position: position}, &v1alpha1.Remote{URL: "https://git", Branch: "main", Commit: "commit"}
	return f
}

// TestWasApplied changes one thing at a time about a position that was reached, by state and status.
func TestWasApplied(t *testing.T) {
	forgetStatus := func(f *Facts) { f.LastStatus = v1alpha1.GitDeliveryObservation{} }
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   bool
	}{
		"Both":   {reason: "A position that state and status remember was reached.", change: func(*Facts) {}, want: true},
		"State":  {reason: "The state alone proves the position that this control plane applied.", change: forgetStatus, want: true},
		"Status": {reason: "Where the state was lost, the status remembers.", change: func(f *Facts) { f.Memory = nil }, want: true},
		"Nothing": {
			reason: "A position in neither state nor status was not reached.",
			change: func(f *Facts) { forgetStatus(f); f.Memory = nil },
		},
		"Deleted": {
			reason: "The tombstone of a deleted delivery proves nothing about the next delivery.",
			change: func(f *Facts) { forgetStatus(f); f.Memory.Deleted = true },
		},
		"Rebuilt": {
			reason: "A state that was rebuilt from commits does not say that a position was reached.",
			change: func(f *Facts) { forgetStatus(f); f.Rebuilt = true },
		},
		"Other": {
			reason: "A state of another position does not say so.",
			change: func(f *Facts) { forgetStatus(f); f.Memory.Position.Revision = 1 },
		},
		"OtherStatus": {
			reason: "A status of another position does not say so.",
			change: func(f *Facts) { f.Memory = nil; f.LastStatus.Record.Position.Revision = 1 },
		},
		"OtherURL": {
			reason: "A status of another repository says nothing of this one.",
			change: func(f *Facts) { f.Memory = nil; f.LastStatus.Remote.URL = "https://other" },
		},
		"NoRemote": {
			reason: "A status that names no repository says nothing of this one.",
			change: func(f *Facts) { f.Memory = nil; f.LastStatus.Remote = nil },
		},
		"TakesOver": {
			reason: "A position that another cluster applied does not count for this cluster.",
			change: func(f *Facts) { f.Memory.ClusterUID = "other" },
		},
		"Attempting": {
			reason: "While an attempt at the position is in progress, missing trees were not pushed yet.",
			change: func(f *Facts) { f.LastStatus.Attempt = &rolloutv1alpha1.Attempt{Revision: 2} },
		},
		"Ahead": {
			reason: "A state that was written before the branch does not say that the branch followed.",
			change: func(f *Facts) { forgetStatus(f); f.InBranch["commit"] = false },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			tc.change(&f)
			if got := f.wasApplied(); got != tc.want {
				t.Errorf("\n%s\nwasApplied(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestHasDiverged looks for the last delivered commit in the branch.
func TestHasDiverged(t *testing.T) {
	lose := func(f *Facts) { f.InBranch = map[string]bool{} }
	forgetStatus := func(f *Facts) { f.LastStatus.Remote = nil }
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   bool
	}{
		"There": {reason: "A branch that has the commit of the status has lost nothing.", change: func(*Facts) {}},
		"Lost":  {reason: "A branch without the commit of the status was rewritten.", change: lose, want: true},
		"State": {
			reason: "A branch without the commit of the state was rewritten.",
			change: func(f *Facts) { lose(f); forgetStatus(f) }, want: true,
		},
		"Ahead": {
			reason: "A state ahead of the branch shows no divergence while the branch has its base.",
			change: func(f *Facts) { forgetStatus(f); f.InBranch["commit"] = false },
		},
		"NoState": {reason: "Where nothing is remembered nothing was lost.", change: func(f *Facts) { lose(f); forgetStatus(f); f.Memory = nil }},
		"Deleted": {
			reason: "Another user may remove the commit of a deleted delivery from the branch.",
			change: func(f *Facts) { lose(f); forgetStatus(f); f.Memory.Deleted = true },
		},
		"Never": {reason: "A state without a commit lost none.", change: func(f *Facts) { lose(f); forgetStatus(f); f.Memory.Commit = "" }},
		"Branch": {
			reason: "The commit of another branch need not be in this one.",
			change: func(f *Facts) { f.LastStatus.Remote.Branch = "prod"; f.LastStatus.Remote.Commit = "gone" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			tc.change(&f)
			if got := f.hasDiverged(); got != tc.want {
				t.Errorf("\n%s\nhasDiverged(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestFormerTrees names directories of former branches.
func TestFormerTrees(t *testing.T) {
	treeAt := func(branch, path string) state.Tree {
		return state.Tree{Branch: branch, DeliveredTree: v1alpha1.DeliveredTree{Path: path}}
	}
	cases := map[string]struct {
		reason string
		change func(*Facts)
		want   []state.Tree
	}{
		"State": {
			reason: "Directories on former branches come from the state, and not from the status.",
			change: func(*Facts) {}, want: []state.Tree{treeAt("old", "b"), treeAt("older", "c")},
		},
		"Lost": {
			reason: "Where the state was lost, the status remembers.",
			change: func(f *Facts) { f.Memory = nil }, want: []state.Tree{treeAt("shown", "d")},
		},
		"Rebuilt": {
			reason: "A state that was rebuilt from commits is completed by the status.",
			change: func(f *Facts) { f.Rebuilt = true }, want: []state.Tree{treeAt("old", "b"), treeAt("older", "c"), treeAt("shown", "d")},
		},
		"Elsewhere": {
			reason: "The status of another repository says nothing of this one.",
			change: func(f *Facts) { f.Memory = nil; f.LastStatus.Remote.URL = "https://other" },
		},
		"Never": {
			reason: "A status that names no repository says nothing of this one.",
			change: func(f *Facts) { f.Memory = nil; f.LastStatus.Remote = nil },
		},
		"Forgotten": {
			reason: "A branch that a user asked to forget is forgotten.",
			change: func(f *Facts) { f.Forgotten = []string{"old"} }, want: []state.Tree{treeAt("older", "c")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			f.Memory.Trees, f.Memory.Former = []state.Tree{treeAt("main", "a"), treeAt("old", "b")}, []state.Tree{treeAt("older", "c"), treeAt("main", "a")}
			f.LastStatus.FormerBranches = []v1alpha1.FormerBranch{{Branch: "shown", Paths: []string{"d"}}}
			tc.change(&f)
			if diff := cmp.Diff(tc.want, f.formerTrees(0)); diff != "" {
				t.Errorf("\n%s\nformerTrees(0): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestIsSameCluster compares the cluster that wrote a directory with this one.
func TestIsSameCluster(t *testing.T) {
	cases := map[string]struct {
		reason, uid, takeOver string
		want                  bool
	}{
		"This":    {reason: "A directory of this cluster is ours.", uid: "this", want: true},
		"Other":   {reason: "A directory of another cluster is not ours.", uid: "other"},
		"Named":   {reason: "A directory of the cluster that is taken over is ours.", uid: "other", takeOver: "other", want: true},
		"Unknown": {reason: "A directory of no known cluster is not ours where none is taken over."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			f.Config.TakeOverFrom = tc.takeOver
			if got := f.IsSameCluster(tc.uid); got != tc.want {
				t.Errorf("\n%s\nisSameCluster(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAllSiteNames has a delivery with one Site in the present step, and one whose directory comes with a later step.
func TestAllSiteNames(t *testing.T) {
	f := Facts{Spec: v1alpha1.GitDeliveryParameters{
		Trees: []v1alpha1.Tree{{Site: "edge2", Branch: "main", Path: "second"}},
		Later: []v1alpha1.LaterTree{{Tree: v1alpha1.Tree{Site: "edge1", Branch: "main", Path: "first"}}},
	}}
	if diff := cmp.Diff([]string{"edge1", "edge2"}, f.AllSiteNames()); diff != "" {
		t.Errorf("\nThe Sites of all steps are read before their steps.\nallSiteNames(): -want, +got:\n%s", diff)
	}
}
