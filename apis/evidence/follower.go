package evidence

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// IsLeftAlone is true when the delivery to another repository than the home need not ask for the position of a state, and stays as it is observed. A
// push that only moves a record helps no Site. It has asked for the same trees since an earlier step of the attempt, or the state brings nothing
// there: the revision has not come to its Sites, or a rollback has nothing to restore there. A revision in tracks asks each of them: the content of a
// directory is known by the position alone.
func IsLeftAlone(name string, desired, observed *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	if s.Current == nil || s.HasTracks() || !isFollowerDelivery(desired, observed) {
		return false
	}
	p := observed.Spec.ForProvider.Position
	switch {
	case !AsksForNothing(desired):
		return p != nil && s.Position().HasReached(*p) && observed.Spec.ForProvider.Copy.Ledger == s.Ledger && AsksForSameTrees(desired, observed)
	case IsOfRevision(p, s):
		return AsksForNothing(observed) && HasStepOf(name, *p, s) // The trees that the revision began to bring there have to be held back.
	}
	return !IsReached(name, desired, s) && (AsksForNothing(observed) || isDeliveryInPlace(observed))
}

// isFollowerDelivery is true for the delivery to another repository than the home, which was asked for a recorded position before.
func isFollowerDelivery(desired, observed *deliveryv1alpha1.GitDelivery) bool {
	return observed != nil && observed.Spec.ForProvider.Copy != nil && desired.Spec.ForProvider.Ledger == nil
}

// IsOfRevision is true for a position of the current revision of a state, in any attempt.
func IsOfRevision(p *ledger.Position, s ledger.State) bool {
	return p != nil && s.Current != nil && p.Epoch == s.Epoch && p.Revision == s.Current.Number
}

// AsksForNothing is true for a delivery that changes no directory.
func AsksForNothing(d *deliveryv1alpha1.GitDelivery) bool {
	return !slices.ContainsFunc(d.Spec.ForProvider.Trees, isTreeBrought)
}

// isTreeBrought is true for a tree that a delivery brings to its directory.
func isTreeBrought(t deliveryv1alpha1.Tree) bool { return t.Action != deliveryv1alpha1.ActionKeep }

// IsReached is true for a delivery, by its name in the composition, to some Site that the current revision has come to.
func IsReached(name string, d *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	isReached := func(site string) bool { return hasRevisionReached(s, site) }
	return slices.ContainsFunc(sitesOfPart(name, s), isReached) ||
		slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return isReached(t.Site) })
}

// isDeliveryInPlace is true for a delivery whose repository was brought to the position that it asks for, and holds the trees.
func isDeliveryInPlace(d *deliveryv1alpha1.GitDelivery) bool {
	return hasAppliedItsPosition(d) && holdsDesiredTrees(d, d)
}

// holdsDesiredTrees is true for an observed delivery whose repository holds each tree that the desired delivery brings.
func holdsDesiredTrees(desired, observed *deliveryv1alpha1.GitDelivery) bool {
	return !slices.ContainsFunc(desired.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool {
		delivered, _ := HeldTree(observed, t.Path)
		return isTreeBrought(t) && delivered.Tree != t.Tree
	})
}

// RecordInPlace returns the record of a follower's repository that has the desired trees of a state, or nil: the provider followed the home there, before the
// spec requested a position of the revision. A push that only moves the record to a later step helps no Site.
func RecordInPlace(name string, desired, observed *deliveryv1alpha1.GitDelivery, s ledger.State) *deliveryv1alpha1.LedgerRecord {
	r, requested := observed.Status.AtProvider.Record, observed.Spec.ForProvider.Position
	if r == nil || r.Copy == nil || r.Copy.Ledger != s.Ledger || s.IsRejected() || s.HasTracks() || !isFollowerDelivery(desired, observed) {
		return nil
	}
	isOfAttempt := IsOfRevision(&r.Position, s) && s.Position().HasReached(r.Position)
	if !isOfAttempt || IsOfRevision(requested, s) || !HasStepOf(name, r.Position, s) || !holdsDesiredTrees(desired, observed) {
		return nil
	}
	return r
}

// hasAppliedItsPosition is true for a delivery whose repository was brought to the position that it asks for.
func hasAppliedItsPosition(d *deliveryv1alpha1.GitDelivery) bool {
	p := d.Spec.ForProvider.Position
	return p != nil && HasApplied(d, *p)
}

// HasReported is true for a delivery to Sites of the current revision whose status is about the present content of its directories. Before, a directory may be
// about to change.
func HasReported(d *deliveryv1alpha1.GitDelivery, s ledger.State, sites []string) bool {
	if d.Spec.ForProvider.Ledger != nil {
		return HasApplied(d, s.Position())
	}
	p := d.Spec.ForProvider.Position
	switch {
	case IsOfRevision(p, s):
		return !isBeforeStep(*p, s, sites) && hasAppliedItsPosition(d) && (p.IsSameAttempt(s.Position()) || AsksForNothing(d))
	case slices.ContainsFunc(sites, func(site string) bool { return hasRevisionReached(s, site) }):
		return false
	}
	return isDeliveryInPlace(d) || AsksForNothing(d) && IsSeen(d)
}

// HasStepOf is true for a position of the current revision at which a delivery, by its name in the composition, was asked for all of its Sites that the
// revision has come to. At a lower one its repository cannot report its trees of the revision.
func HasStepOf(name string, p ledger.Position, s ledger.State) bool {
	return !isBeforeStep(p, s, sitesOfPart(name, s))
}

// isBeforeStep is true for a position of the current revision of a state that is lower than the step of a Site which the revision has come to.
func isBeforeStep(p ledger.Position, s ledger.State, sites []string) bool {
	return slices.ContainsFunc(sites, func(site string) bool { return hasRevisionReached(s, site) && p.Step < s.Current.StepOf(site) })
}

// hasRevisionReached is true for a Site that the current revision has come to, in a rollback before that.
func hasRevisionReached(s ledger.State, site string) bool {
	return s.Current.StepOf(site) <= s.Cursor.Step
}

// sitesOfPart returns the Sites that the current revision delivers to with a delivery, by its name in the composition.
func sitesOfPart(name string, s ledger.State) []string {
	for _, p := range s.Current.Parts {
		if p.Delivery == name {
			return p.Sites
		}
	}
	return nil
}

// IsSeen is true for a delivery whose Ready condition is about its current generation.
func IsSeen(d *deliveryv1alpha1.GitDelivery) bool {
	ready := d.GetCondition(xpv2.TypeReady)
	return ready.Status != corev1.ConditionUnknown && ready.ObservedGeneration == d.GetGeneration()
}

// needsNothing is true for an observed delivery that is asked for nothing. While a revision goes out it may be in any state; a rollback is proven by
// the report of each delivery.
func (c *Comparison) needsNothing(name string) bool {
	d, observed := c.Desired[name], c.Observed[name]
	if d.Spec.ForProvider.Ledger == nil && c.State.IsInSteps() && !IsReached(name, d, c.State) {
		return true // A repository of a later wave neither fails nor holds back an earlier one.
	}
	return AsksForNothing(d) && IsLeftAlone(name, d, observed, c.State) && (!c.State.IsRejected() || IsSeen(observed))
}

// positionOfDelivery returns the position that an observed delivery has to be at: that of the state, or the lower position at which it is left alone.
func (c *Comparison) positionOfDelivery(name string) ledger.Position {
	if observed := c.Observed[name]; observed != nil && observed.Spec.ForProvider.Position != nil && IsLeftAlone(name, c.Desired[name], observed, c.State) {
		return *observed.Spec.ForProvider.Position
	}
	return c.State.Position()
}

// AsksForDesired is true when an observed delivery asks for its desired state. The same position can come to ask for more trees: for a tree that was
// retained because its cluster was not ready.
func (c *Comparison) AsksForDesired(name string) bool {
	d, observed := c.Desired[name], c.Observed[name]
	return observed != nil && (IsLeftAlone(name, d, observed, c.State) || AsksForPosition(observed, c.State.Position()) && AsksForSameTrees(d, observed))
}

// IsProven is true when an observed delivery proves now that it has its desired state.
func (c *Comparison) IsProven(name string) bool { return c.meetsCondition(name, IsDelivered) }

// meetsCondition is true when an observed delivery asks for its desired state, and a condition holds for it at its position, or when it needs nothing.
func (c *Comparison) meetsCondition(name string, condition func(*deliveryv1alpha1.GitDelivery, ledger.Position) bool) bool {
	return c.AsksForDesired(name) && (c.needsNothing(name) || condition(c.Observed[name], c.positionOfDelivery(name)))
}
