package deployment

import (
	"context"
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// decide goes on with the order. A plan with a problem freezes it: nothing new is ordered, and what was begun goes on with the Sites that
// it has. What people asked for with RolloutRequests is done first, and answered.
func (c *Core) decide(ctx context.Context, in Input, f *phase.Input, out *Output) error {
	asked, need, err := catalog.Requests(in.Claim, in.Answers)
	if err != nil {
		return err
	}
	requests := rollout.Of(in.Claim, asked)
	ctx, cancel := bounded(ctx, in)
	defer cancel()
	p, err := c.plan(ctx, in, f, false)
	out.Needs = append(out.Needs, need)
	out.Needs = append(out.Needs, p.needs...)
	out.Stages = append(out.Stages, p.stages...)
	if f.Problem, err = problemOf(err); err != nil {
		return err
	}
	out.retry(f.Problem)
	s := c.standing(in, f, p, out)
	v := verdict{}
	r := rollout.Choice(requests, s)
	if r != nil && r.Spec.Action == rolloutv1alpha1.ActionApproveUpdate {
		if p, v, err = c.approve(ctx, in, f, p, r, out); err != nil {
			return err
		}
		s.Other, s.Failed = v.other, v.failed
	}
	if err := p.carryOut(in, f, out, s, r); err != nil {
		return err
	}
	s.Order, s.Ended = f.Order, phase.Ended(f)
	f.Requests = answers(f, requests, s, v)
	return nil
}

// carryOut does what a request asks for, or goes on.
func (p plan) carryOut(in Input, f *phase.Input, out *Output, s rollout.Standing, r *rolloutv1alpha1.RolloutRequest) error {
	if r == nil {
		return p.goOn(in, f, out, s)
	}
	switch r.Spec.Action {
	case rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionRollbackTo:
		f.Unobserved = p.unobserved
		return p.back(in, f, out, rollout.Obey(*s.Order, r))
	case rolloutv1alpha1.ActionPromote:
		p.obeyed = r
	case rolloutv1alpha1.ActionRetry:
		p.wish.Approved = rollout.Ref(r)
	case rolloutv1alpha1.ActionApproveUpdate:
	}
	return p.goOn(in, f, out, s)
}

// goOn with the order, or with the next one.
func (p plan) goOn(in Input, f *phase.Input, out *Output, s rollout.Standing) error {
	if f.Problem != nil {
		return p.resume(in, f, out, s.Order)
	}
	return p.order(in, f, out)
}

// order goes on with the current order, or starts the next revision, and asks for what carries it out.
func (p plan) order(in Input, f *phase.Input, out *Output) error {
	all := slices.Collect(maps.Values(f.Observed))
	current, conflict := rollout.Current(all)
	if conflict {
		p.wish.Carried = rollout.Carried(all, p.wish.Request.Intent)
	}
	next, held := rollout.Next(current, conflict, p.wish)
	if p.obeyed != nil && rollout.Meant(next, p.obeyed) {
		next = rollout.Obey(next, p.obeyed)
	}
	if *in.Spec.Suspend && (current == nil || !rollout.Same(next, *current)) && !next.Rejected() {
		f.Suspended = true
		return p.resume(in, f, out, current)
	}
	// A newer version of us ordered this, and it alone knows which trees belong to it.
	if outranks(next, p.wish.Request) {
		f.Outranked = rollout.Newer(next) || next.Intent != p.wish.Request.Intent
		return nil
	}
	f.Unobserved = p.unobserved
	// Nobody knows which of all that changed may go out.
	if f.RendererDeferred = held; held && rollout.Unnamed(next, p.wish) {
		return nil
	}
	if next.Rejected() {
		return p.back(in, f, out, next)
	}
	if f.Waits = rollout.Waits(next, held, p.wish); f.Waits {
		return p.resume(in, f, out, &next)
	}
	wanted := compose.Inherit(p.wanted, f.Observed)
	if held {
		compose.Hold(wanted, f.Observed, next)
	}
	p.ask(in, f, wanted, next)
	judged := rollout.Judge(next, f.Proof())
	if judged.Rejected() {
		return p.back(in, f, out, judged)
	}
	if f.Suspended = *in.Spec.Suspend && judged.Step != next.Step; !f.Suspended {
		p.ask(in, f, wanted, judged)
	}
	if err := p.gates(in, f, out); err != nil {
		return err
	}
	return replace(f, out)
}

// outranks is true for an order of a newer version of us.
func outranks(o rolloutv1alpha1.Order, r rollout.Request) bool {
	return rollout.Newer(o) || o.RendererVersion > r.RendererVersion
}

// resume goes on with an order as it is, to a verdict and back, while nothing new may be ordered. What a later step would bring is not known
// here, so it waits. Where an object was lost, or memory and objects disagree, everything stays.
func (p plan) resume(in Input, f *phase.Input, out *Output, current *rolloutv1alpha1.Order) error {
	if current == nil || !agreed(f, *current) {
		return nil
	}
	if current.Rejected() {
		return p.back(in, f, out, *current)
	}
	parts := compose.Parts(f.Observed, nil, *current)
	if !compose.Covers(parts, *current) {
		return nil
	}
	spec := usable(in.Spec.DeliveryConfig)
	carryOn := func(o rolloutv1alpha1.Order) {
		f.Order, f.Desired, f.Sync = &o, compose.Resume(parts, spec, o), compose.Observers(f.ObservedSync, spec, o)
	}
	carryOn(*current)
	judged := rollout.Judge(*current, f.Proof())
	if judged.Rejected() {
		return p.back(in, f, out, judged)
	}
	if judged.Step == current.Step {
		carryOn(judged)
	}
	if err := p.gates(in, f, out); err != nil || rollout.Same(*f.Order, *current) && !f.Waits {
		return err
	}
	return observeAs(f, out)
}

// agreed is true when no object asks for an earlier revision than the one that is remembered, and none for another request.
func agreed(f *phase.Input, o rolloutv1alpha1.Order) bool {
	asks := func(d *deliveryv1alpha1.GitDelivery) bool {
		is := d.Spec.ForProvider.Order
		return is.Revision == o.Revision && is.Request == o.Request
	}
	for _, d := range f.Observed {
		done := d.Status.AtProvider.Order
		if done != nil && done.Revision == o.Revision && !asks(d) {
			return false
		}
	}
	return len(f.Observed) > 0 && slices.ContainsFunc(slices.Collect(maps.Values(f.Observed)), asks)
}
