package phase

import (
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// Problem is why a spec cannot be carried out. It freezes the order: what was started goes on.
type Problem struct {
	// Reason is one of the reasons of conditions Valid (when Terminal) and SitesFound.
	Reason string

	// Message for people. It names the field.
	Message string

	// Terminal says that only a person can help. A problem that is not ends when something appears.
	Terminal bool

	// Retried says that the same may succeed another time, and is tried again by itself.
	Retried bool

	// Phase in which the problem was found.
	Phase v1alpha1.Phase
}

// Facts are all that a status is made of.
type Facts struct {
	// Claim that the facts are about.
	Claim rolloutv1alpha1.ClaimReference

	// Digest of the spec that the facts are about.
	Digest string

	// Understood is the intent in canonical form. Empty when it cannot be understood.
	Understood string

	// Problem that freezes the order, if there is one.
	Problem *Problem

	// Unsupported names the fields that are set and do nothing yet.
	Unsupported []string

	// Suspended says that a new request is held back.
	Suspended bool

	// Outranked says that a newer version of us made the order, and that it is, or may be, for another request.
	Outranked bool

	// Held says that a newer renderer would make other trees than those of the order, and has to wait.
	Held bool

	// Update that waits.
	Update v1alpha1.UpdateStatus

	// Requests are what became of RolloutRequests.
	Requests []v1alpha1.RequestStatus

	// GatesDisabled says that the spec switches the gates off.
	GatesDisabled bool

	// Unobserving are the composed resources whose last change the provider has not observed for too long, by kind and name.
	Unobserving []string

	// Gates that are observed, by the name of the composed resource.
	Gates map[string]*rolloutv1alpha1.Gate

	// Waits says that a change of the catalog waits for the verdict on the order.
	Waits bool

	// Stop is why a rejected order is not taken back, and StopMessage says it to people.
	Stop        rollout.Stop
	StopMessage string

	// Target is what a rejected order goes, or would go, back to. Nil means that there is nothing known.
	Target *rollout.Target

	// Order that is carried out. Nil means that nothing was ordered.
	Order *rolloutv1alpha1.Order

	// Desired deliveries, by the name of the composed resource.
	Desired map[string]*deliveryv1alpha1.GitDelivery

	// Observed deliveries, by the name of the composed resource.
	Observed map[string]*deliveryv1alpha1.GitDelivery

	// Sync is the SiteSync that is desired, and ObservedSync the one that is there. Nil means none.
	Sync, ObservedSync *deliveryv1alpha1.SiteSync

	// Unobserved are the Sites that nobody observes, and whether delivered counts as live there. It is nil while the catalog is not
	// known.
	Unobserved map[string]bool
}

// heldBack is true when what is asked for now is not, or may not be, what is ordered.
func (f *Facts) heldBack() bool { return f.Suspended || f.Outranked }

// blocked returns the first delivery, by name, that cannot carry the order out, and the condition that says why. What it says of
// another order does not count.
func (f *Facts) blocked() (*deliveryv1alpha1.GitDelivery, xpv2.Condition) {
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		d := f.Observed[name]
		if d == nil || f.Order == nil || !rollout.Alike(d.Spec.ForProvider.Order, *f.Order) {
			continue
		}
		ready := d.Status.GetCondition(xpv2.TypeReady)
		if ready.Status == corev1.ConditionFalse && ready.ObservedGeneration == d.GetGeneration() && obstacle(ready.Reason) {
			return d, ready
		}
	}
	return nil, xpv2.Condition{}
}

// obstacle is true for the reasons that are more than a delivery under way.
func obstacle(r xpv2.ConditionReason) bool {
	return !slices.Contains([]xpv2.ConditionReason{"", deliveryv1alpha1.ReasonPushing, deliveryv1alpha1.ReasonConflict, deliveryv1alpha1.ReasonOrderBehind, xpv2.ReasonCreating}, r)
}

// terminal is true for the reasons that nobody but a person can take away.
func terminal(r xpv2.ConditionReason) bool {
	return slices.Contains([]xpv2.ConditionReason{
		deliveryv1alpha1.ReasonPolicyDenied, deliveryv1alpha1.ReasonStateRefused, deliveryv1alpha1.ReasonStateUntrusted,
		deliveryv1alpha1.ReasonNotOwner, deliveryv1alpha1.ReasonOwnedElsewhere, deliveryv1alpha1.ReasonDiverged,
		deliveryv1alpha1.ReasonTooLarge, deliveryv1alpha1.ReasonInvalid, deliveryv1alpha1.ReasonObjectConflict,
	}, r)
}

// hasConflict is true while another claim delivers an object of the order to the same Site.
func (f *Facts) hasConflict() bool {
	d, c := f.blocked()
	return d != nil && c.Reason == deliveryv1alpha1.ReasonObjectConflict
}

// blockedReason is the reason of a condition that says why a delivery is blocked.
func (f *Facts) blockedReason() string {
	if f.hasConflict() {
		return v1alpha1.ReasonObjectConflict
	}
	return v1alpha1.ReasonDeliveryBlocked
}
