package gitdelivery

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// deliverTo makes the configuration and the order name another branch, and delivers there.
func (w *world) deliverTo(branch string, revision int64, says string) {
	w.Helper()
	w.configure(func(c *configv1alpha1.ProviderConfigSpec) { c.Git.Branch = branch })
	w.change(func(d *v1alpha1.GitDelivery) {
		setWish(d, order(revision, says))
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{desired(w.T, "edge1", webAtE1, says)}
		d.Spec.ForProvider.Trees[0].Branch = branch
	})
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonDelivered)
}

func (w *world) fork(branch string) {
	w.Helper()
	_, err := w.git.Git(w.Context(), repo, "branch", branch, "main")
	w.must(err)
}

// formerBranches compares the former branches of the status.
func (w *world) formerBranches(want ...v1alpha1.FormerBranch) {
	w.Helper()
	if diff := cmp.Diff(want, w.get("web").Status.AtProvider.FormerBranches); diff != "" {
		w.Errorf("status.atProvider.formerBranches: -want, +got:\n%s", diff)
	}
}

func TestFormerBranches(t *testing.T) {
	t.Parallel()
	main := v1alpha1.FormerBranch{Branch: "main", Paths: []string{webAtE1}}
	begin := func(w *world) {
		w.create(w.first())
		w.reconcile("web")
		w.formerBranches()
		w.fork("release")
		w.deliverTo("release", 2, "b")
	}
	tell(t, map[string]story{
		"Left": {reason: "The status names the directories on the branch that a configuration left, also after a restart, and one event reports them.", run: func(w *world) {
			begin(w)
			tip := w.refs()["refs/heads/main"]
			w.formerBranches(main)
			w.restart()
			w.forget()
			w.reconcile("web")
			w.formerBranches(main)
			w.deliverTo("release", 3, "c")
			w.formerBranches(main)
			if got := strings.Count(strings.Join(w.told["web"], "\n"), `branch "main" does not get the deliveries any more`); got != 2 { // Once, and once for the status that was lost.
				w.Errorf("events of the former branch: want 2, got %d: %q", got, w.told["web"])
			}
			if diff := cmp.Diff(tip, w.refs()["refs/heads/main"]); diff != "" {
				w.Errorf("nothing is pushed to the former branch: -want, +got:\n%s", diff)
			}
		}},
		"Forgotten": {reason: "The annotation makes the status and the state forget a former branch.", run: func(w *world) {
			begin(w)
			w.change(func(d *v1alpha1.GitDelivery) {
				d.SetAnnotations(map[string]string{v1alpha1.AnnotationForgetBranches: "main"})
			})
			w.reconcile("web")
			w.formerBranches()
			w.expect("web", v1alpha1.ReasonDelivered)
		}},
		"Back": {reason: "A branch that the configuration names again is current, and the branch that it left is former.", run: func(w *world) {
			begin(w)
			w.deliverTo("main", 3, "c")
			w.formerBranches(v1alpha1.FormerBranch{Branch: "release", Paths: []string{webAtE1}})
		}},
	})
}

// appliedFacts are the facts of a delivery with revision 2 applied by this control plane, by state and status.
func appliedFacts() facts {
	position := ledger.Position{Epoch: 1, Revision: 2}
	f := facts{
		config:   &configv1alpha1.ProviderConfigSpec{},
		marker:   marker.Marker{ClusterUID: "this"},
		inBranch: map[string]bool{"base": true, "commit": true},
		memory: &state.RecordFile{
			Header: state.Header{ClusterUID: "this"}, Base: "base", Commit: "commit",
			LedgerRecord: v1alpha1.LedgerRecord{Position: position, Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4}},
		},
	}
	f.config.Git.URL, f.config.Git.Branch = "https://git", "main"
	f.recording.applied = ledger.State{Head: f.memory.Head, Current: &ledger.Revision{Number: 2}}
	f.lastStatus.Record, f.lastStatus.Remote = &v1alpha1.LedgerRecord{Position: position}, &v1alpha1.Remote{URL: "https://git", Branch: "main", Commit: "commit"}
	return f
}

// TestWasApplied changes one thing at a time about a position that was reached, by state and status.
func TestWasApplied(t *testing.T) {
	forgetStatus := func(f *facts) { f.lastStatus = v1alpha1.GitDeliveryObservation{} }
	cases := map[string]struct {
		reason string
		change func(*facts)
		want   bool
	}{
		"Both":        {reason: "A position that state and status remember was reached.", change: func(*facts) {}, want: true},
		"State":       {reason: "The state alone proves the position that this control plane applied.", change: forgetStatus, want: true},
		"Status":      {reason: "Where the state was lost, the status remembers.", change: func(f *facts) { f.memory = nil }, want: true},
		"Nothing":     {reason: "A position in neither state nor status was not reached.", change: func(f *facts) { forgetStatus(f); f.memory = nil }},
		"Deleted":     {reason: "The tombstone of a deleted delivery proves nothing about the next delivery.", change: func(f *facts) { forgetStatus(f); f.memory.Deleted = true }},
		"Rebuilt":     {reason: "A state that was rebuilt from commits does not say that a position was reached.", change: func(f *facts) { forgetStatus(f); f.rebuilt = true }},
		"Other":       {reason: "A state of another position does not say so.", change: func(f *facts) { forgetStatus(f); f.memory.Position.Revision = 1 }},
		"OtherStatus": {reason: "A status of another position does not say so.", change: func(f *facts) { f.memory = nil; f.lastStatus.Record.Position.Revision = 1 }},
		"OtherURL":    {reason: "A status of another repository says nothing of this one.", change: func(f *facts) { f.memory = nil; f.lastStatus.Remote.URL = "https://other" }},
		"NoRemote":    {reason: "A status that names no repository says nothing of this one.", change: func(f *facts) { f.memory = nil; f.lastStatus.Remote = nil }},
		"TakesOver":   {reason: "A position that another cluster applied does not count for this cluster.", change: func(f *facts) { f.memory.ClusterUID = "other" }},
		"Attempting": {
			reason: "While an attempt at the position is in progress, missing trees were not pushed yet.",
			change: func(f *facts) { f.lastStatus.Attempt = &rolloutv1alpha1.Attempt{Revision: 2} },
		},
		"Ahead": {reason: "A state that was written before the branch does not say that the branch followed.", change: func(f *facts) { forgetStatus(f); f.inBranch["commit"] = false }},
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
	lose := func(f *facts) { f.inBranch = map[string]bool{} }
	forgetStatus := func(f *facts) { f.lastStatus.Remote = nil }
	cases := map[string]struct {
		reason string
		change func(*facts)
		want   bool
	}{
		"There":   {reason: "A branch that has the commit of the status has lost nothing.", change: func(*facts) {}},
		"Lost":    {reason: "A branch without the commit of the status was rewritten.", change: lose, want: true},
		"State":   {reason: "A branch without the commit of the state was rewritten.", change: func(f *facts) { lose(f); forgetStatus(f) }, want: true},
		"Ahead":   {reason: "A state ahead of the branch shows no divergence while the branch has its base.", change: func(f *facts) { forgetStatus(f); f.inBranch["commit"] = false }},
		"NoState": {reason: "Where nothing is remembered nothing was lost.", change: func(f *facts) { lose(f); forgetStatus(f); f.memory = nil }},
		"Deleted": {reason: "Another user may remove the commit of a deleted delivery from the branch.", change: func(f *facts) { lose(f); forgetStatus(f); f.memory.Deleted = true }},
		"Never":   {reason: "A state without a commit lost none.", change: func(f *facts) { lose(f); forgetStatus(f); f.memory.Commit = "" }},
		"Branch":  {reason: "The commit of another branch need not be in this one.", change: func(f *facts) { f.lastStatus.Remote.Branch = "prod"; f.lastStatus.Remote.Commit = "gone" }},
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
		change func(*facts)
		want   []state.Tree
	}{
		"State": {
			reason: "Directories on former branches come from the state, and not from the status.",
			change: func(*facts) {}, want: []state.Tree{treeAt("old", "b"), treeAt("older", "c")},
		},
		"Lost": {reason: "Where the state was lost, the status remembers.", change: func(f *facts) { f.memory = nil }, want: []state.Tree{treeAt("shown", "d")}},
		"Rebuilt": {
			reason: "A state that was rebuilt from commits is completed by the status.",
			change: func(f *facts) { f.rebuilt = true }, want: []state.Tree{treeAt("old", "b"), treeAt("older", "c"), treeAt("shown", "d")},
		},
		"Elsewhere": {reason: "The status of another repository says nothing of this one.", change: func(f *facts) { f.memory = nil; f.lastStatus.Remote.URL = "https://other" }},
		"Never":     {reason: "A status that names no repository says nothing of this one.", change: func(f *facts) { f.memory = nil; f.lastStatus.Remote = nil }},
		"Forgotten": {
			reason: "A branch that a user asked to forget is forgotten.",
			change: func(f *facts) { f.forgotten = []string{"old"} }, want: []state.Tree{treeAt("older", "c")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := appliedFacts()
			f.memory.Trees, f.memory.Former = []state.Tree{treeAt("main", "a"), treeAt("old", "b")}, []state.Tree{treeAt("older", "c"), treeAt("main", "a")}
			f.lastStatus.FormerBranches = []v1alpha1.FormerBranch{{Branch: "shown", Paths: []string{"d"}}}
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
			f.config.TakeOverFrom = tc.takeOver
			if got := f.isSameCluster(tc.uid); got != tc.want {
				t.Errorf("\n%s\nisSameCluster(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestAllSiteNames has a delivery with one Site in the present step, and one whose directory comes with a later step.
func TestAllSiteNames(t *testing.T) {
	f := facts{spec: v1alpha1.GitDeliveryParameters{
		Trees: []v1alpha1.Tree{{Site: "edge2", Branch: "main", Path: "second"}},
		Later: []v1alpha1.LaterTree{{Tree: v1alpha1.Tree{Site: "edge1", Branch: "main", Path: "first"}}},
	}}
	if diff := cmp.Diff([]string{"edge1", "edge2"}, f.allSiteNames()); diff != "" {
		t.Errorf("\nThe Sites of all steps are read before their steps.\nallSiteNames(): -want, +got:\n%s", diff)
	}
}
