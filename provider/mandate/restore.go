package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// IsAhead reports whether the ledger reached a state by its mandate that the spec does not contain: the revision took a step, was rejected, or its rollback
// advanced.
func IsAhead(p v1alpha1.GitDeliveryParameters, s ledger.State) bool {
	status := Status(p.Mandate, s)
	if p.Ledger == nil || status == nil || p.Ledger.LedTo(s.Head) {
		return false
	}
	requested, recorded := p.AskedPosition(), s.Position()
	if !s.IsRejected() {
		return slices.Contains(status.May, step.KindAdvance) && isEarlierPosition(requested, s)
	}
	return isEarlierPosition(requested, s) || isOfRevision(requested, s) && recorded.Attempt == 0
}

// Follow returns the parameters of the home, or of a follower, for a later state of the ledger. A step moves requests to the revision, or brings it to the Sites
// of another wave. A rejected revision changes no directory. A rollback attempt restores the trees of the target within the timeout of the mandate, under any
// drift policy. With tracks, its stages come first. No directory is removed: that waits for the spec.
func (f Facts) Follow(p v1alpha1.GitDeliveryParameters, recorded, s ledger.State) v1alpha1.GitDeliveryParameters {
	position := s.Position()
	p.Position, p.Trees, p.Settled = &position, f.followTrees(p, recorded, s), false
	if position.Attempt > 0 {
		p.DeliveryTimeout = mandateTimeout(*f.Home.Spec.ForProvider.Mandate).String()
	}
	if position.Attempt > 0 && !s.Restored {
		p.DriftPolicy = v1alpha1.DriftRestore
	}
	return p
}

// followTrees returns the trees of the directories of a delivery for a later state of its ledger.
func (f Facts) followTrees(p v1alpha1.GitDeliveryParameters, recorded, s ledger.State) []v1alpha1.Tree {
	switch {
	case s.HasTracks():
		return f.followStage(p, recorded, s)
	case !s.IsRejected():
		return directories.At(p, s).Trees
	}
	out := make([]v1alpha1.Tree, len(p.Trees))
	target := directories.TargetTrees(s)
	for i, t := range p.Trees {
		out[i] = f.followTarget(t, s, target)
	}
	return out
}

// followTarget returns the tree of a directory for a rollback target, in a repository with one directory for each Site. The directory is retained if the
// target has no tree for the Site, if the deployment does not select the Site any more, if an earlier revision delivered the target's tree, or if the
// directory was never delivered.
func (f Facts) followTarget(t v1alpha1.Tree, s ledger.State, target map[string]string) v1alpha1.Tree {
	want, isServed := target[t.Site]
	if !isServed || !f.isChosenSite(t.Site) || f.isUntouched(t) || directories.HoldsTarget(t, f.Delivered[t.Path], s, want) {
		return directories.Retain(t)
	}
	return directories.Restore(t, want)
}

// isUntouched is true for a directory with action Keep and no delivered tree: its Site moved to this path, and the step of the Site had not begun.
func (f Facts) isUntouched(t v1alpha1.Tree) bool {
	_, isKnown := f.Delivered[t.Path]
	return t.Action == v1alpha1.ActionKeep && !isKnown
}
