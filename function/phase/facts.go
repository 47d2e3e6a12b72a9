package phase

import (
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
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

	// GatesOff says that there is nothing to judge a revision by.
	GatesOff bool

	// Order that is carried out. Nil means that nothing was ordered.
	Order *rolloutv1alpha1.Order

	// Desired deliveries, by the name of the composed resource.
	Desired map[string]*deliveryv1alpha1.GitDelivery

	// Observed deliveries, by the name of the composed resource.
	Observed map[string]*deliveryv1alpha1.GitDelivery
}

// delivered is true when every desired delivery proves now that it carried the order out.
func (f *Facts) delivered() bool { return f.every(rollout.Delivered) && !f.waiting() }

// recorded is true when every desired delivery carried the order out at some time.
func (f *Facts) recorded() bool { return f.every(rollout.Recorded) && !f.waiting() }

func (f *Facts) every(is func(*deliveryv1alpha1.GitDelivery, rolloutv1alpha1.Order) bool) bool {
	if f.Order == nil || len(f.Desired) == 0 {
		return false
	}
	for name := range f.Desired {
		if f.Observed[name] == nil || !is(f.Observed[name], *f.Order) || !f.asked(name) {
			return false
		}
	}
	return true
}

// asked is true when the observed delivery was asked for the trees that are desired now. The same order can come to ask for more:
// a tree that was kept because its cluster was not ready.
func (f *Facts) asked(name string) bool {
	one := func(d *deliveryv1alpha1.GitDelivery) map[string]string {
		return compose.TreeIDs(map[string]*deliveryv1alpha1.GitDelivery{name: d})
	}
	return maps.Equal(one(f.Desired[name]), one(f.Observed[name]))
}

// waiting is true while some Site receives nothing because its cluster is not ready.
func (f *Facts) waiting() bool {
	for name, d := range f.Desired {
		if slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return f.waits(t, f.Observed[name]) }) {
			return true
		}
	}
	return false
}

// waits is true for a tree of a Site whose cluster is not ready. Where a renderer is held back, a tree can also be kept because
// nobody can render it any more.
func (f *Facts) waits(t deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) bool {
	served := func(s deliveryv1alpha1.DeliveredTree) bool { return s.Path == t.Path }
	if f.Held && d != nil && slices.ContainsFunc(d.Status.AtProvider.Trees, served) {
		return false
	}
	return keeps(t)
}

// heldBack is true when what is asked for now is not, or may not be, what is ordered.
func (f *Facts) heldBack() bool { return f.Suspended || f.Outranked }

func keeps(t deliveryv1alpha1.Tree) bool { return t.Action == deliveryv1alpha1.ActionKeep }

// blocked returns the first delivery, by name, that cannot carry the order out, and the condition that says why. What it says of
// another order does not count.
func (f *Facts) blocked() (*deliveryv1alpha1.GitDelivery, xpv2.Condition) {
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		d := f.Observed[name]
		if d == nil || f.Order == nil || !rollout.Same(d.Spec.ForProvider.Order, *f.Order) {
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
		deliveryv1alpha1.ReasonTooLarge, deliveryv1alpha1.ReasonInvalid,
	}, r)
}

// liveRevision is the newest revision that every repository holds. Where nobody tells what the Sites run, delivered counts.
func (f *Facts) liveRevision() int64 {
	var live int64
	for name := range f.Desired {
		d := f.Observed[name]
		if d == nil || d.Status.AtProvider.Order == nil {
			return 0
		}
		if r := d.Status.AtProvider.Order.Revision; live == 0 || r < live {
			live = r
		}
	}
	return live
}
