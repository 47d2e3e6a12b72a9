package deployment

import (
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/evidence"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// Decision is what the third stage of a call decides: which order is applied, and which resources ask for it.
type Decision struct {
	phase.Decision
	evidence.Comparison

	// resources that should exist, by their name in the composition.
	resources map[string]Resource
}

// A decider decides on what was observed and compiled.
type decider struct {
	in       Input
	observed Observed
	compiled Compiled
}

// decide goes on with the order, or begins the next one. A RolloutRequest that was chosen is carried out first. While the spec has a problem
// nothing new is ordered, and what began goes on with the Sites that it has.
func decide(in Input, o Observed, k Compiled) (Decision, error) {
	t := decider{in: in, observed: o, compiled: k}
	d := Decision{Comparison: o.comparison(), resources: maps.Clone(o.retained)}
	d.Update = k.update
	switch {
	case isRollbackRequest(k.request):
		d.Unobserved = k.unobserved
		return t.rollBack(d, rollout.Obey(*o.order, k.request))
	case k.Problem != nil:
		return t.goOnUnchanged(d, o.order)
	}
	return t.goOn(d)
}

// isRollbackRequest is true for a RolloutRequest that gives a revision up, or goes back to an earlier one.
func isRollbackRequest(r *rolloutv1alpha1.RolloutRequest) bool {
	return r != nil && (r.Spec.Action == rolloutv1alpha1.ActionAbort || r.Spec.Action == rolloutv1alpha1.ActionRollbackTo)
}

// goOn goes on with the order, or begins the next one.
func (t decider) goOn(d Decision) (Decision, error) {
	current, desired := t.observed.order, t.compiled.desired
	next, deferred := t.nextOrder()
	if *t.in.Spec.Suspend && (current == nil || !rollout.Same(next, *current)) && !next.Rejected() {
		d.Suspended = true
		return t.goOnUnchanged(d, current)
	}
	// A newer version of the function ordered this, and it alone can compute which trees belong to it.
	if isOutranked(next, desired.Request) {
		d.Outranked = rollout.Newer(next) || next.Intent != desired.Request.Intent
		return d, nil
	}
	d.Unobserved, d.RendererDeferred = t.compiled.unobserved, deferred
	// It is not known which of all that changed was approved.
	if deferred && rollout.Unnamed(next, desired) {
		return d, nil
	}
	if next.Rejected() {
		return t.rollBack(d, next)
	}
	if d.Waits = rollout.Waits(next, deferred, desired); d.Waits {
		return t.goOnUnchanged(d, &next)
	}
	return t.askForNext(d, next)
}

// nextOrder returns the order that follows from what is desired, and whether a newer renderer is deferred. A chosen RolloutRequest changes it.
func (t decider) nextOrder() (rolloutv1alpha1.Order, bool) {
	o, k := t.observed, t.compiled
	desired := k.desired
	if o.hasConflict {
		desired.Carried = rollout.Carried(o.allDeliveries(), desired.Request.Intent)
	}
	next, deferred := rollout.Next(o.order, o.hasConflict, desired)
	if k.request != nil && k.request.Spec.Action == rolloutv1alpha1.ActionPromote && rollout.Meant(next, k.request) {
		next = rollout.Obey(next, k.request)
	}
	return next, deferred
}

// askForNext asks for an order, and for its next step or its verdict once that is proven.
func (t decider) askForNext(d Decision, next rolloutv1alpha1.Order) (Decision, error) {
	trees := compose.Inherit(t.compiled.deliveries, t.observed.deliveries)
	if d.RendererDeferred {
		trees = compose.Hold(trees, t.observed.deliveries, next)
	}
	d = t.askForOrder(d, trees, next)
	judged := rollout.Judge(next, d.Proof())
	if judged.Rejected() {
		return t.rollBack(d, judged)
	}
	if d.Suspended = *t.in.Spec.Suspend && judged.Step != next.Step; !d.Suspended {
		d = t.askForOrder(d, trees, judged)
	}
	if err := t.composeGates(d); err != nil {
		return d, err
	}
	return d, t.composeSuccessors(d)
}

// goOnUnchanged goes on with an order as it is, to its verdict and its rollback, while nothing new may be ordered. What a later step would bring is not
// known, so that it waits. Where an object was lost, or objects contradict what is recorded, everything is retained.
func (t decider) goOnUnchanged(d Decision, current *rolloutv1alpha1.Order) (Decision, error) {
	if current == nil || !agreesWith(t.observed, *current) {
		return d, nil
	}
	if current.Rejected() {
		return t.rollBack(d, *current)
	}
	parts := compose.Parts(t.observed.deliveries, nil, *current)
	if !compose.Covers(parts, *current) {
		return d, nil
	}
	d = t.repeatRequest(d, parts, *current)
	judged := rollout.Judge(*current, d.Proof())
	if judged.Rejected() {
		return t.rollBack(d, judged)
	}
	if judged.Step == current.Step {
		d = t.repeatRequest(d, parts, judged)
	}
	if err := t.composeGates(d); err != nil || rollout.Same(*d.Order, *current) && !d.Waits {
		return d, err
	}
	return d, t.composeAll(d)
}

// isOutranked is true for an order of a newer version of the function.
func isOutranked(o rolloutv1alpha1.Order, r rollout.Request) bool {
	return rollout.Newer(o) || o.RendererVersion > r.RendererVersion
}

// agreesWith is true when no object asks for an earlier revision than the recorded one, and none for another request.
func agreesWith(observed Observed, o rolloutv1alpha1.Order) bool {
	asks := func(d *deliveryv1alpha1.GitDelivery) bool {
		is := d.Spec.ForProvider.Order
		return is.Revision == o.Revision && is.Request == o.Request
	}
	for _, d := range observed.deliveries {
		done := d.Status.AtProvider.Order
		if done != nil && done.Revision == o.Revision && !asks(d) {
			return false
		}
	}
	return slices.ContainsFunc(observed.allDeliveries(), asks)
}
