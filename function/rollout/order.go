// Package rollout decides what is ordered: which revision, step and attempt, from what is asked for and what is observed. It is pure, and
// keeps no memory: with the same request and the same observed objects it orders the same thing.
package rollout

import (
	"cmp"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Current is where we are, read back from the observed deliveries: the newest order that any of them asks for, or has carried
// out. An order in a status may come from Git, after the objects that asked for it were lost. It is nil when nothing was
// ordered. Conflict is true when two requests carry the newest number, or when two repositories remember two verdicts on it: neither
// may keep it. An order that delivers what was rejected before, and that not every repository knew of, is rejected for the same reason.
func Current(ds []*deliveryv1alpha1.GitDelivery) (current *rolloutv1alpha1.Order, conflict bool) {
	all := orders(ds)
	for i := range all {
		if current == nil || before(*current, all[i]) {
			current = &all[i]
		}
	}
	for i := range all {
		conflict = conflict || current.Conflicts(all[i]) || current.Rejudges(all[i])
	}
	if current != nil {
		current.Verdict = cmp.Or(current.Verdict, revived(*current, ds))
	}
	return current, conflict
}

// revived is the rejection of the revision before an order that delivers the same, and that a repository carried out which did not know of
// it. It is nil when there is none.
func revived(o rolloutv1alpha1.Order, ds []*deliveryv1alpha1.GitDelivery) *rolloutv1alpha1.Verdict {
	for _, d := range ds {
		if done := d.Status.AtProvider.Order; done != nil && o.Revives(*done, adopts(d)) {
			return done.Verdict
		}
	}
	return nil
}

func adopts(d *deliveryv1alpha1.GitDelivery) bool {
	return d.Spec.ForProvider.Adopt != nil && *d.Spec.ForProvider.Adopt
}

// orders that are remembered, and those that are asked for, but for what a repository is known to refuse: another request or another verdict
// than it, or any other one, remembers under that number, or what it remembers to be rejected under the number before.
func orders(ds []*deliveryv1alpha1.GitDelivery) []rolloutv1alpha1.Order {
	var out []rolloutv1alpha1.Order
	for _, d := range ds {
		if done := d.Status.AtProvider.Order; done != nil {
			out = append(out, *done)
		}
	}
	known := len(out)
	for _, d := range ds {
		asked, done := d.Spec.ForProvider.Order, d.Status.AtProvider.Order
		rejudged := slices.ContainsFunc(out[:known], func(o rolloutv1alpha1.Order) bool { return asked.Request == o.Request && asked.Rejudges(o) })
		if !rejudged && (done == nil || !asked.Conflicts(*done) && !asked.Revives(*done, adopts(d))) {
			out = append(out, asked)
		}
	}
	return out
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
		cmp.Compare(nameOf(a.Blueprint), nameOf(b.Blueprint)),
		cmp.Compare(resultOf(b), resultOf(a)),
	) < 0
}

// resultOf a verdict: of two, the rejection counts.
func resultOf(o rolloutv1alpha1.Order) rolloutv1alpha1.VerdictResult {
	if o.Verdict == nil {
		return ""
	}
	return o.Verdict.Result
}

// nameOf is empty for an order of an earlier version, which did not name its Blueprint.
func nameOf(b *rolloutv1alpha1.BlueprintReference) string {
	if b == nil {
		return ""
	}
	return b.Name
}

// A Wish is what is asked for now.
type Wish struct {
	// Request for it.
	Request Request

	// Before is the digest that the request would have with the renderer of the current order.
	Before string

	// Also are digests of other requests that came to the trees of the current order, as AlsoOf told them.
	Also []string

	// Unchanged says that all trees which the request renders to are those that the current order already asks for, and that no Gate which
	// cannot measure has other checks than the request.
	Unchanged bool

	// Hold says that a new renderer alone starts no revision now.
	Hold bool

	// Awaited says that some Site of the current order's step waits for its cluster.
	Awaited bool
	// Eased says that the deployment may overwrite strangers' files now, and could not when the order went out.
	Eased bool

	// InFlight says that the current order has no verdict, and that one will come by itself.
	InFlight bool

	// Untold says that some delivery which takes part in the current order was lost, or never told what its repository remembers.
	Untold bool
	// Carried is the rejection of another request of this intent that carries the current number too. Nil means none.
	Carried *rolloutv1alpha1.Verdict

	// Manual says that somebody has to approve updates.
	Manual bool

	// Marks are called for the next revision alone, since they take their time: a digest of what it has of what its Blueprint marks as
	// irreversible, and whether it changes, or may change, any of that. Nil means that nothing is marked.
	Marks func() (marked string, irreversible bool)

	// Approved is the RolloutRequest that lets an update through, or asks for the same again. Nil means that none does.
	Approved *rolloutv1alpha1.RequestReference
}

// Next is the order that follows from what is asked for and where we are. It keeps the current order when
//   - the order comes from a newer renderer, or a newer scheme of digests, than ours,
//   - the order was rejected, and neither the intent changed nor what a user said about strangers' files,
//   - the request is the same,
//   - only the catalog or versions changed, and neither a tree nor the checks of a Gate that cannot measure did,
//   - only the renderer changed, and that is held back: then held is true,
//   - only the catalog or versions changed, and the verdict is on its way, or
//   - somebody has to approve a new Blueprint, and the order, which an earlier version made, does not say whether there is one: then
//     held is true too.
//
// Otherwise, and when somebody approved an update, it starts the next revision. While a repository did not tell what it remembers, the same
// intent keeps its number: it may have been rejected under it, and a repository that remembers so refuses another request with that number,
// and would take the next one.
func Next(current *rolloutv1alpha1.Order, conflict bool, w Wish) (next rolloutv1alpha1.Order, held bool) {
	if current == nil {
		return revision(1, w), false
	}
	if Newer(*current) || current.RendererVersion > w.Request.RendererVersion {
		return *current, false
	}
	if w.Approved != nil {
		return revision(current.Revision+1, w), false
	}
	if conflict {
		return carried(revision(number(*current, w), w), w.Carried), false
	}
	if current.Rejected() && current.Intent == w.Request.Intent {
		return again(*current, w), false
	}
	if current.Request == w.Request.Digest || current.Intent == w.Request.Intent && w.Unchanged {
		return keep(*current, w), false
	}
	// Nobody can render any more what the Sites of a later step were to get, or those that wait for their clusters.
	if w.Hold && OnlyRenderer(*current, w) && current.Step+1 >= current.Steps && !w.Awaited {
		return keep(*current, w), true
	}
	if Unnamed(*current, w) {
		return *current, true
	}
	if waits(*current, w) {
		return *current, false
	}
	return revision(number(*current, w), w), false
}

// number of what follows an order.
func number(current rolloutv1alpha1.Order, w Wish) int64 {
	if w.Untold && w.Carried == nil && current.Verdict == nil && current.Intent == w.Request.Intent {
		return current.Revision
	}
	return current.Revision + 1
}

// waits is true for a change of the catalog, or of versions, while the verdict on the order is on its way.
func waits(current rolloutv1alpha1.Order, w Wish) bool {
	return w.InFlight && current.Verdict == nil && current.Intent == w.Request.Intent
}

// Waits is true for an order that Next keeps although something else is asked for, until its verdict is there.
func Waits(next rolloutv1alpha1.Order, held bool, w Wish) bool {
	return !held && waits(next, w) && next.Request != w.Request.Digest && !w.Unchanged
}

// carried is an order with the verdict of another one that had its number.
func carried(o rolloutv1alpha1.Order, v *rolloutv1alpha1.Verdict) rolloutv1alpha1.Order {
	o.Verdict = v
	return o
}

// Carried is the rejection of a request for an intent, among all orders of the newest revision: of two that carry one number, it is
// carried over to the next. It is nil when none was rejected.
func Carried(ds []*deliveryv1alpha1.GitDelivery, intent string) *rolloutv1alpha1.Verdict {
	current, _ := Current(ds)
	for _, d := range ds {
		for _, o := range []*rolloutv1alpha1.Order{&d.Spec.ForProvider.Order, d.Status.AtProvider.Order} {
			if o != nil && o.Revision == current.Revision && o.Rejected() && o.Intent == intent {
				return o.Verdict
			}
		}
	}
	return nil
}

// again is what follows a rejection, as long as the same is asked for: nothing, but where a refusal may have lost its cause.
func again(current rolloutv1alpha1.Order, w Wish) rolloutv1alpha1.Order {
	if w.Eased && current.Verdict.Reason == rolloutv1alpha1.RejectedDeliveryRefused {
		return revision(current.Revision+1, w)
	}
	return current
}

// keep the order. One that does not name its Blueprint, where somebody has to approve the next one, learns it: it is the one that its
// trees came from.
func keep(o rolloutv1alpha1.Order, w Wish) rolloutv1alpha1.Order {
	if o.Blueprint == nil && w.Manual {
		o.Blueprint = w.Request.Blueprint
	}
	return o
}

// OnlyRenderer is true when nothing changed since an order but the renderer, and trees with it.
func OnlyRenderer(current rolloutv1alpha1.Order, w Wish) bool {
	return current.RendererVersion < w.Request.RendererVersion && Asked(current, w) && !w.Unchanged
}

// Asked is true when, but for the renderer, what is asked for now is what the order was made for, or came to its trees since.
func Asked(current rolloutv1alpha1.Order, w Wish) bool {
	return current.Request == w.Before || slices.Contains(w.Also, w.Before)
}

// AlsoOf is the digest of the request that came to the trees of an order which was kept, where it is not the order's own. Without it a
// later renderer would look like a change of the catalog. It is empty when there is none.
func AlsoOf(next rolloutv1alpha1.Order, w Wish) string {
	if next.Request == w.Request.Digest || next.Request == w.Before {
		return ""
	}
	return w.Before
}

// Unnamed is true where somebody has to approve a new Blueprint, and nobody knows whether there is one: an order of an earlier version
// does not name its own, and trees changed for another reason than the intent and the renderer.
func Unnamed(current rolloutv1alpha1.Order, w Wish) bool {
	return w.Manual && w.Approved == nil && current.Blueprint == nil && current.Intent == w.Request.Intent && !Asked(current, w) && !w.Unchanged
}

// Newer is true for an order whose digests we cannot compute.
func Newer(o rolloutv1alpha1.Order) bool { return o.DigestScheme > digest.Scheme }

func revision(n int64, w Wish) rolloutv1alpha1.Order {
	o := rolloutv1alpha1.Order{
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
	if w.Marks != nil {
		var irreversible bool
		if o.Marked, irreversible = w.Marks(); irreversible {
			o.Irreversible = new(true)
		}
	}
	return o
}

// Alike is true for two orders that ask for the same, whatever they came to.
func Alike(a, b rolloutv1alpha1.Order) bool { return Same(a.Unjudged(), b.Unjudged()) }

// Same is true for two orders that say the same.
func Same(a, b rolloutv1alpha1.Order) bool { return a.Same(b) }

// Recorded is true when the repository's state holds an order with its verdict, whatever the directories hold now.
func Recorded(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return d.Status.AtProvider.Order != nil && Same(*d.Status.AtProvider.Order, o)
}
