package compose

import (
	"maps"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// A Return is the content that a rollback attempt restores.
type Return struct {
	// Trees of the target, by Site. Nil means that no history has the target.
	Trees map[string]string

	// Chosen is true for a Site that the deployment is still for.
	Chosen func(site string) bool

	// Timeout of the attempt.
	Timeout string
}

// RestoreDirectories returns the deliveries of a rejected revision, in a rollback attempt with the target's trees where others are, or may be, and everything
// else as it is. A directory that the target did not have is retained, and so is each one without an attempt, even where the next revision would go elsewhere.
// Differences from the target are not drift under any policy for drift.
func RestoreDirectories(parts map[string]*deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, s ledger.State, r Return) map[string]*deliveryv1alpha1.GitDelivery {
	out := Resume(withRecordedTrees(parts), spec)
	for name, d := range out {
		p := &d.Spec.ForProvider
		p.Later = nil
		for i, t := range p.Trees {
			p.Trees[i] = r.restoreTree(t, parts[name], s)
		}
		if evidence.AsksForNothing(d) {
			continue
		}
		p.DeliveryTimeout = r.Timeout
		if !s.Restored {
			p.DriftPolicy = deliveryv1alpha1.DriftRestore
		}
	}
	return out
}

// withRecordedTrees returns deliveries with the trees of their repositories. A repository that followed the home to a later wave has later trees of its delivery, in
// directories that the spec may not name yet.
func withRecordedTrees(parts map[string]*deliveryv1alpha1.GitDelivery) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(parts)
	for name, d := range parts {
		p, r := d.Spec.ForProvider, d.Status.AtProvider.Record
		if p.Ledger != nil || r == nil || r.Copy == nil || p.AskedPosition().Compare(r.Position) >= 0 {
			continue
		}
		followed := *d
		followed.Spec.ForProvider = directories.At(p, *r.Copy)
		out[name] = &followed
	}
	return out
}

func (r Return) restoreTree(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, s ledger.State) deliveryv1alpha1.Tree {
	isBack := isRollingBack(d, s)
	restores := t.Action == deliveryv1alpha1.ActionRestore && isBack
	switch {
	case r.Trees == nil && restores:
		return t
	case r.Trees == nil || !r.Chosen(t.Site):
		return directories.Retain(t)
	case s.Restored && isBack:
		return t // The restored tree is the tree that was requested then, even if Sites moved since.
	}
	want, served := r.Trees[t.Site]
	held, _ := evidence.HeldTree(d, t.Path)
	if !served || !restores && (directories.HoldsTarget(t, held, s, want) || isUntouched(t, d, isBack)) {
		return directories.Retain(t)
	}
	return directories.Restore(t, want)
}

// isUntouched is true for a directory that a delivery was to keep, and that was not there when it had applied its position: the directory of a Site that was
// moved there, and whose turn had not come. Once the rollback asks to keep it, nothing brings it there: to restore it before that is reported would make
// another commit.
func isUntouched(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery, isBack bool) bool {
	_, isDelivered := evidence.HeldTree(d, t.Path)
	requested, done := d.Spec.ForProvider.Position, d.Status.AtProvider.Record
	hasReported := requested == nil && evidence.IsSeen(d) || requested != nil && done != nil && done.Position == *requested
	return t.Action == deliveryv1alpha1.ActionKeep && !isDelivered && (hasReported || isBack)
}

// isRollingBack is true for a delivery that asks for the rollback of a state, in whichever attempt.
func isRollingBack(d *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	p := d.Spec.ForProvider.Position
	return p != nil && p.Revision == s.Current.Number && p.Attempt > 0 && s.Cursor.Attempt > 0
}
