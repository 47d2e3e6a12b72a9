package rollout

import (
	"cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Current is where we are, read back from the observed deliveries: the newest order that any of them asks for, or has carried
// out. An order in a status may come from Git, after the objects that asked for it were lost. It is nil when nothing was
// ordered. Conflict is true when two requests carry the newest number: neither may keep it.
func Current(ds []*deliveryv1alpha1.GitDelivery) (current *rolloutv1alpha1.Order, conflict bool) {
	var all []rolloutv1alpha1.Order
	for _, d := range ds {
		asked, done := d.Spec.ForProvider.Order, d.Status.AtProvider.Order
		if done != nil {
			all = append(all, *done)
		}
		// What this repository holds under the same number, for another request, is why it never carried out what is asked.
		if done == nil || !asked.Conflicts(*done) {
			all = append(all, asked)
		}
	}
	for i := range all {
		if current == nil || before(*current, all[i]) {
			current = &all[i]
		}
	}
	for i := range all {
		conflict = conflict || current.Conflicts(all[i])
	}
	return current, conflict
}

// before puts orders in one sequence, whatever sequence they were found in. Of two that are equally far, the one of the newer version of
// us comes last: an older one must not replace it.
func before(a, b rolloutv1alpha1.Order) bool {
	if a.Behind(b) || b.Behind(a) {
		return a.Behind(b)
	}
	return cmp.Or(
		cmp.Compare(a.DigestScheme, b.DigestScheme),
		cmp.Compare(a.RendererVersion, b.RendererVersion),
		cmp.Compare(a.Request, b.Request),
	) < 0
}

// A Wish is what is asked for now.
type Wish struct {
	// Request for it.
	Request Request

	// Before is the digest that the request would have with the renderer of the current order.
	Before string

	// Unchanged says that all trees which the request renders to are those that the current order already asks for.
	Unchanged bool

	// Hold says that a new renderer alone starts no revision now.
	Hold bool

	// Eased says that the deployment may overwrite strangers' files now, and could not when the order went out.
	Eased bool

	// Approved is the RolloutRequest that lets an update through. Nil means that none does.
	Approved *rolloutv1alpha1.RequestReference
}

// Next is the order that follows from what is asked for and where we are. It keeps the current order when
//   - the order comes from a newer renderer, or a newer scheme of digests, than ours,
//   - the order was rejected, and neither the intent changed nor what a user said about strangers' files,
//   - the request is the same,
//   - only versions changed, and no tree did, or
//   - only the renderer changed, and that is held back: then held is true.
//
// Otherwise, and when somebody approved an update, it starts the next revision.
func Next(current *rolloutv1alpha1.Order, conflict bool, w Wish) (next rolloutv1alpha1.Order, held bool) {
	if current == nil {
		return revision(1, w), false
	}
	if Newer(*current) || current.RendererVersion > w.Request.RendererVersion {
		return *current, false
	}
	if conflict || w.Approved != nil {
		return revision(current.Revision+1, w), false
	}
	if current.Rejected() && current.Intent == w.Request.Intent {
		return again(*current, w), false
	}
	if current.Request == w.Request.Digest || current.Intent == w.Request.Intent && w.Unchanged {
		return *current, false
	}
	// Nobody can render any more what the Sites of a later step were to get.
	if w.Hold && OnlyRenderer(*current, w) && current.Step+1 >= current.Steps {
		return *current, true
	}
	return revision(current.Revision+1, w), false
}

// again is what follows a rejection, as long as the same is asked for: nothing, but where a refusal may have lost its cause.
func again(current rolloutv1alpha1.Order, w Wish) rolloutv1alpha1.Order {
	if w.Eased && current.Verdict.Reason == rolloutv1alpha1.RejectedDeliveryRefused {
		return revision(current.Revision+1, w)
	}
	return current
}

// OnlyRenderer is true when nothing changed since an order but the renderer, and trees with it.
func OnlyRenderer(current rolloutv1alpha1.Order, w Wish) bool {
	return current.RendererVersion < w.Request.RendererVersion && current.Request == w.Before && !w.Unchanged
}

// Newer is true for an order whose digests we cannot compute.
func Newer(o rolloutv1alpha1.Order) bool { return o.DigestScheme > digest.Scheme }

func revision(n int64, w Wish) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{
		Revision:        n,
		Request:         w.Request.Digest,
		Intent:          w.Request.Intent,
		DigestScheme:    digest.Scheme,
		RendererVersion: w.Request.RendererVersion,
		Blueprint:       w.Request.Blueprint,
		Plan:            w.Request.Plan,
		Steps:           int32(len(w.Request.Plan)), //nolint:gosec // A plan has few steps.
		RequestRef:      w.Approved,
	}
}
