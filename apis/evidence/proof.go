package evidence

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
)

// Proof returns the proof about the position.
func (c *Comparison) Proof() step.Proof {
	p := c.StepProof()
	p.IsLive, p.Failure, p.AwaitsCluster = c.IsLive(), c.revisionFailure(), c.State.Verdict == nil && c.AwaitsCluster()
	if g := c.Gate(); g != nil && p.Failure == nil {
		p.Failure = GateFailure(g)
	}
	if p.IsLive {
		p.Trees = c.provenTrees()
	}
	return p
}

// StepProof returns the part of the proof that is about the Gate of the step and the pause behind it.
func (c *Comparison) StepProof() step.Proof {
	p, g := step.Proof{IsPauseOver: IsSyncReleased(c.ObservedSync, c.State.Position())}, c.Gate()
	if g == nil {
		return p
	}
	p.HasPassed, p.IsWatching = GateVerdict(g) == rolloutv1alpha1.GatePassed, CurrentReady(g).Reason == rolloutv1alpha1.ReasonWatching
	if p.IsHeld = GateVerdict(g) == rolloutv1alpha1.GateInconclusive; p.IsHeld {
		p.HeldAt = ptr.Deref(g.Status.AtProvider.EndedAt, metav1.Time{}).Time
	}
	return p
}

// provenTrees returns the trees of the Sites. The tree of a Site with action Keep is the tree in the repository.
func (c *Comparison) provenTrees() []ledger.SiteTree {
	var out []ledger.SiteTree
	for name, d := range c.Desired {
		for _, t := range d.Spec.ForProvider.Trees {
			id := t.Tree
			if id == "" {
				delivered, _ := HeldTree(c.Observed[name], t.Path)
				id = delivered.Tree
			}
			out = append(out, ledger.SiteTree{Site: t.Site, ID: id})
		}
	}
	slices.SortFunc(out, func(a, b ledger.SiteTree) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// HeldTree returns the tree of a directory that a delivery last reported.
func HeldTree(d *deliveryv1alpha1.GitDelivery, path string) (deliveryv1alpha1.DeliveredTree, bool) {
	if d == nil {
		return deliveryv1alpha1.DeliveredTree{}, false
	}
	for _, t := range d.Status.AtProvider.Trees {
		if t.Path == path {
			return t, true
		}
	}
	return deliveryv1alpha1.DeliveredTree{}, false
}

// HeldTreeAt returns the tree of a Site's directory that a delivery, which may be nil, last reported.
func HeldTreeAt(d *deliveryv1alpha1.GitDelivery, site string) (deliveryv1alpha1.DeliveredTree, bool) {
	if d == nil {
		return deliveryv1alpha1.DeliveredTree{}, false
	}
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Site == site {
			return HeldTree(d, t.Path)
		}
	}
	return deliveryv1alpha1.DeliveredTree{}, false
}

// revisionFailure returns the first reason, in the order of names, for which the revision is rejected, or nil.
func (c *Comparison) revisionFailure() *ledger.Verdict {
	switch {
	case c.State.Current == nil:
		return nil
	case c.LostFiles != "":
		return newRejection(rolloutv1alpha1.RejectedFilesLost, c.LostFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Desired)) {
		if !c.AsksForDesired(name) || c.needsNothing(name) {
			continue
		}
		if v := DeliveryFailure(c.Observed[name], c.positionOfDelivery(name)); v != nil {
			return v
		}
	}
	if !c.WatchesDesired() {
		return nil
	}
	return SyncFailure(c.ObservedSync, c.State)
}

// IsLive is true when every repository holds the trees of the revision's step, and every Site of the step runs them, now.
func (c *Comparison) IsLive() bool {
	return c.isDelivered() && c.areSitesLive() && len(c.UnprovenSites()) == 0
}

// areSitesLive is true when the Sites that are observed are proven to run the trees of the revision's step, and none is left out that has an engine: the
// SiteSync may have been lost while the revision goes on as it is.
func (c *Comparison) areSitesLive() bool {
	return c.watchesBrought() && (c.Sync == nil || c.WatchesDesired() && AreSitesLive(c.ObservedSync, c.State.Position()))
}

// isDelivered is true when every desired delivery proves now that it applied the revision, and none is left out that the revision has come to.
func (c *Comparison) isDelivered() bool {
	return c.holdsForEach(IsDelivered) && c.hasEachPart() && !c.AwaitsCluster()
}

// hasEachPart is true when each delivery is desired that the revision has come to. A delivery that is out of sight is not while the catalog is not known. The
// Sites of a verified revision counted, even if the spec changed since.
func (c *Comparison) hasEachPart() bool {
	if c.State.Current == nil || c.State.IsVerified() {
		return true
	}
	return !slices.ContainsFunc(c.State.Current.Parts, func(p ledger.Part) bool {
		isReached := slices.ContainsFunc(p.Sites, func(site string) bool { return hasRevisionReached(c.State, site) })
		return isReached && c.Desired[p.Delivery] == nil
	})
}

// IsApplied is true when every desired delivery applied the revision at some time.
func (c *Comparison) IsApplied() bool { return c.holdsForEach(HasApplied) && !c.AwaitsCluster() }

// IsRecorded is true when the ledger holds all that was decided.
func (c *Comparison) IsRecorded() bool {
	return c.State.Current != nil && c.State.Head == c.Recorded.Head
}

// IsVerdictRecorded is true when the revision has a verdict, and the ledger holds it.
func (c *Comparison) IsVerdictRecorded() bool { return c.IsRecorded() && c.State.Verdict != nil }

// HasSucceeded is true for a revision that was verified, once the ledger holds that, and each directory has its track alone.
func (c *Comparison) HasSucceeded() bool {
	return c.State.IsAtLastStep() && c.State.IsVerified() && c.IsRecorded() && !c.IsDraining
}

// HasRolledBack is true for a revision that was rejected and rolled back, once the ledger holds that.
func (c *Comparison) HasRolledBack() bool {
	return c.State.IsRejected() && c.State.Restored && c.IsRecorded()
}

// SucceedsNow is true when the request succeeded, and is proven to run now.
func (c *Comparison) SucceedsNow() bool { return c.HasSucceeded() && c.IsLive() }

// RunsEverywhere is true as long as no evidence speaks against it that the Sites run the applied trees. It is less than IsLive: an object whose change
// was not observed yet does not speak against it.
func (c *Comparison) RunsEverywhere() bool {
	d, _ := c.Blocked()
	return d == nil && c.IsApplied() && c.areSitesLive() && len(c.UnprovenSites()) == 0
}

// IsUnhindered is true for a revision that will come to its end without any further change. A Gate that waits for metrics may wait for ever.
func (c *Comparison) IsUnhindered() bool {
	d, _ := c.Blocked()
	return d == nil && !c.AwaitsCluster() && len(c.UnprovenSites()) == 0 && c.AwaitingGate() == nil
}

// holdsForEach is true when something holds for each of the desired deliveries.
func (c *Comparison) holdsForEach(condition func(*deliveryv1alpha1.GitDelivery, ledger.Position) bool) bool {
	if c.State.Current == nil || len(c.Desired) == 0 || c.IsPartLost {
		return false
	}
	for name := range c.Desired {
		if !c.meetsCondition(name, condition) {
			return false
		}
	}
	return true
}

// HasApplied is true when an observed delivery applied its desired state at some time.
func (c *Comparison) HasApplied(name string) bool { return c.meetsCondition(name, HasApplied) }
