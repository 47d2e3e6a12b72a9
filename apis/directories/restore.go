package directories

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TargetTrees returns the trees of the target of a rollback attempt, by Site. It is nil without an attempt, and for a target that the ledger does not remember.
func TargetTrees(s ledger.State) map[string]string {
	target := step.TargetOf(s)
	if target == nil || s.Cursor.Attempt == 0 {
		return nil
	}
	out := make(map[string]string, len(target.Trees))
	for _, t := range target.Trees {
		out[t.Site] = t.ID
	}
	return out
}

// Restore returns a directory that gets the tree of a rollback target.
func Restore(t deliveryv1alpha1.Tree, target string) deliveryv1alpha1.Tree {
	t.Action, t.Tree, t.Files, t.Parts, t.Tracks, t.After = deliveryv1alpha1.ActionRestore, target, nil, nil, nil, ""
	return t
}

// HoldsTarget is true for a directory that holds the tree of a rollback target from an earlier revision, and that the current revision neither changed nor
// plans to change. held is the last reported tree of the directory.
func HoldsTarget(t deliveryv1alpha1.Tree, held deliveryv1alpha1.DeliveredTree, s ledger.State, target string) bool {
	isPlanned := t.Action != deliveryv1alpha1.ActionKeep && t.Tree != target
	return !isPlanned && held.Tree == target && held.Revision != s.Current.Number
}
