package mandate

import (
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// IsAhead reports whether the trees of a spec do not follow from a state that the ledger came to by its mandate: the revision was rejected, or its rollback went
// on, and the spec does not say so.
func IsAhead(p v1alpha1.GitDeliveryParameters, s ledger.State) bool {
	if p.Ledger == nil || Status(p.Mandate, s) == nil || !s.IsRejected() || p.Ledger.LedTo(s.Head) {
		return false
	}
	asked, at := p.AskedPosition(), s.Position()
	return isBehind(asked, s) || isOfRevision(asked, s) && at.Attempt == 0
}

// Follow returns the parameters of the home, or of another repository, with what follows from a state that they are behind. No directory changes of a rejected
// revision. An attempt to roll back restores the trees of the target, within the time that the mandate gives it, whatever the policy for drift says. In tracks its
// stages come first.
func (f Facts) Follow(p v1alpha1.GitDeliveryParameters, recorded, s ledger.State) v1alpha1.GitDeliveryParameters {
	at := s.Position()
	p.Position, p.Trees, p.Settled = &at, f.followTrees(p.Trees, recorded, s), false
	if at.Attempt > 0 {
		p.DeliveryTimeout = timeoutOf(*f.Home.Spec.ForProvider.Mandate).String()
	}
	if at.Attempt > 0 && !s.Restored {
		p.DriftPolicy = v1alpha1.DriftRestore
	}
	return p
}

// followTrees returns what directories get in a state of a rejected revision.
func (f Facts) followTrees(trees []v1alpha1.Tree, recorded, s ledger.State) []v1alpha1.Tree {
	if s.HasTracks() {
		return f.followStage(trees, recorded, s)
	}
	out := make([]v1alpha1.Tree, len(trees))
	target := treesOfTarget(s)
	for i, t := range trees {
		out[i] = f.followTarget(t, s, target)
	}
	return out
}

// treesOfTarget returns the trees of the target of a rollback, by Site. It is empty while no attempt goes on.
func treesOfTarget(s ledger.State) map[string]string {
	out := map[string]string{}
	if target := step.TargetOf(s); target != nil && s.Cursor.Attempt > 0 {
		for _, t := range target.Trees {
			out[t.Site] = t.ID
		}
	}
	return out
}

// followTarget returns what a directory gets of a target, in a repository that has one directory for each Site. It stays as it is where the target has no tree for the
// Site, where it has the tree by an earlier revision, and where nothing was ever delivered.
func (f Facts) followTarget(t v1alpha1.Tree, s ledger.State, target map[string]string) v1alpha1.Tree {
	want, isServed := target[t.Site]
	if !isServed || !f.isChosen(t.Site) || f.isUntouched(t) || f.hasBefore(t, s, want) {
		return directories.Retain(t)
	}
	t.Action, t.Tree, t.Files, t.Parts, t.Tracks, t.After = v1alpha1.ActionRestore, want, nil, nil, nil, ""
	return t
}

// isUntouched is true for a directory that was to stay, and in which nothing was delivered: that of a Site which was moved there, and whose step had not come.
func (f Facts) isUntouched(t v1alpha1.Tree) bool {
	_, isKnown := f.Delivered[t.Path]
	return t.Action == v1alpha1.ActionKeep && !isKnown
}

// hasBefore is true for a directory that has a tree by an earlier revision, and that the current one neither changed nor was to change.
func (f Facts) hasBefore(t v1alpha1.Tree, s ledger.State, want string) bool {
	if t.Action != v1alpha1.ActionKeep && t.Tree != want {
		return false
	}
	delivered, isKnown := f.Delivered[t.Path]
	return isKnown && delivered.Tree == want && delivered.Revision != s.Current.Number
}
