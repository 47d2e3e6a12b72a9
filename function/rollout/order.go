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
		all = append(all, d.Spec.ForProvider.Order)
		if d.Status.AtProvider.Order != nil {
			all = append(all, *d.Status.AtProvider.Order)
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

// Next is the order that follows from what is asked for and where we are. Unchanged says that all trees which the request
// renders to are those that the current order already asks for. It keeps the current order when
//   - the request is the same,
//   - the order comes from a newer renderer, or a newer scheme of digests, than ours, or
//   - only versions changed, and no tree did.
//
// Otherwise it starts the next revision.
func Next(current *rolloutv1alpha1.Order, conflict bool, r Request, unchanged bool) rolloutv1alpha1.Order {
	if current == nil {
		return revision(1, r)
	}
	if Newer(*current) || current.RendererVersion > r.RendererVersion {
		return *current
	}
	if conflict {
		return revision(current.Revision+1, r)
	}
	if current.Request == r.Digest || current.Intent == r.Intent && unchanged {
		return *current
	}
	return revision(current.Revision+1, r)
}

// Newer is true for an order whose digests we cannot compute.
func Newer(o rolloutv1alpha1.Order) bool { return o.DigestScheme > digest.Scheme }

func revision(n int64, r Request) rolloutv1alpha1.Order {
	return rolloutv1alpha1.Order{
		Revision:        n,
		Request:         r.Digest,
		Intent:          r.Intent,
		DigestScheme:    digest.Scheme,
		RendererVersion: r.RendererVersion,
		Plan:            r.Plan,
		Steps:           int32(len(r.Plan)), //nolint:gosec // A plan has few steps.
	}
}
