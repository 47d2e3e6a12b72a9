package directories

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestTargetTrees reads the trees of a rollback target from a ledger.
func TestTargetTrees(t *testing.T) {
	rejected, verified := ledger.Verdict{Result: ledger.VerdictRejected}, ledger.Verdict{Result: ledger.VerdictVerified}
	good := ledger.Past{Number: 1, Verdict: &verified, Trees: []ledger.SiteTree{{Site: "edge1", ID: "a"}, {Site: "edge2", ID: "b"}}}
	cases := map[string]struct {
		reason  string
		history []ledger.Past
		attempt int32
		want    map[string]string
	}{
		"Attempt": {
			reason:  "An attempt restores the trees of its target.",
			history: []ledger.Past{good}, attempt: 1, want: map[string]string{"edge1": "a", "edge2": "b"},
		},
		"Rejected":  {reason: "A rejection restores nothing before an attempt begins.", history: []ledger.Past{good}},
		"Forgotten": {reason: "A target that the ledger has dropped has no known trees.", attempt: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 2}, Verdict: &rejected, Target: 1, History: tc.history, Cursor: ledger.Cursor{Attempt: tc.attempt}}
			if diff := cmp.Diff(tc.want, TargetTrees(s)); diff != "" {
				t.Errorf("\n%s\nTargetTrees(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHoldsTarget compares a directory with the tree of a rollback target.
func TestHoldsTarget(t *testing.T) {
	keep := deliveryv1alpha1.Tree{Action: deliveryv1alpha1.ActionKeep}
	good, bad := deliveryv1alpha1.Tree{Action: deliveryv1alpha1.ActionDesired, Tree: "good"}, keep
	bad.Action, bad.Tree = deliveryv1alpha1.ActionDesired, "bad"
	held := func(tree string, revision int64) deliveryv1alpha1.DeliveredTree {
		return deliveryv1alpha1.DeliveredTree{Tree: tree, Revision: revision}
	}
	cases := map[string]struct {
		reason string
		tree   deliveryv1alpha1.Tree
		held   deliveryv1alpha1.DeliveredTree
		want   bool
	}{
		"Kept":    {reason: "A directory that stayed at the tree of the target needs no restore.", tree: keep, held: held("good", 1), want: true},
		"Same":    {reason: "A revision with the tree of the target changes nothing.", tree: good, held: held("good", 1), want: true},
		"Planned": {reason: "A revision may still bring another tree.", tree: bad, held: held("good", 1)},
		"Other":   {reason: "Another tree is replaced.", tree: keep, held: held("bad", 1)},
		"Rewritten": {
			reason: "A tree that the rejected revision wrote is restored by the rollback.",
			tree:   keep, held: held("good", 2),
		},
		"Undelivered": {reason: "A directory that was never delivered does not hold the target.", tree: keep},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ledger.State{Current: &ledger.Revision{Number: 2}}
			if got := HoldsTarget(tc.tree, tc.held, s, "good"); got != tc.want {
				t.Errorf("\n%s\nHoldsTarget(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
