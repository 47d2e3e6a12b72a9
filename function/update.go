package function

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxSaid is how many characters a message about a request has at most, as the schema has it.
const maxSaid = 1024

// A channel is where newer Blueprints come from, seen from the one that a deployment stays with.
type channel struct {
	pinned *rolloutv1alpha1.BlueprintReference
	// lost is true when the pinned Blueprint is not there any more.
	lost bool
	// now is the name of the object in the channel. It is empty when there is none, and when nothing is pinned.
	now string
}

// pin returns the name of the Blueprint to stay with, or none. One that was chosen by its version is asked for by that.
func (c *channel) pin(b *rolloutv1alpha1.BlueprintReference) string {
	if c.pinned = b; b == nil || b.Channel == "" {
		return ""
	}
	return b.Name
}

func (c *channel) see(s *catalog.Selection, err error) {
	if c.pinned == nil {
		return
	}
	if s != nil {
		c.now = s.InChannel
	}
	if e := (&catalog.MissingError{}); errors.As(err, &e) && e.InChannel != "" {
		c.now, c.lost = e.InChannel, true
	}
}

// check returns a problem when the object under the pinned name is another one than was ordered.
func (c *channel) check(digest string) error {
	if c.pinned == nil || c.pinned.Digest == "" || c.pinned.Digest == digest {
		return nil
	}
	if c.lost = true; c.pinned.Channel == "" {
		c.now = c.pinned.Name
	}
	return missing(deploymentv1alpha1.ReasonBlueprintMissing,
		"Blueprint "+c.pinned.Name+", which the deployment stays with until somebody approves another one, is not the one that was ordered: it was made anew")
}

// waiting is the name of the Blueprint that waits to be approved, or none.
func (c *channel) waiting() string {
	if c.pinned == nil || c.now == c.pinned.Name && !c.lost {
		return ""
	}
	return c.now
}

// wish is what is asked for with a Blueprint.
func (c *Core) wish(in Input, f *phase.Facts, i intent.Intent, s *catalog.Selection, blueprint string) (rollout.Wish, error) {
	// What a revision is judged by is in the gates, from wherever it was said.
	said := string(i.WithoutSLOs().Canonical())
	r, err := rollout.NewRequest(in.Spec, said, s, blueprint, c.version)
	if err != nil {
		return rollout.Wish{}, err
	}
	w := rollout.Wish{Request: r, Before: r.Digest, Hold: c.holds(in), Manual: manual(in)}
	if f.Order == nil {
		return w, nil
	}
	w.Also = compose.Also(f.Observed, *f.Order)
	if f.Order.RendererVersion != c.version {
		before, err := rollout.NewRequest(in.Spec, said, s, blueprint, f.Order.RendererVersion)
		if err != nil {
			return w, err
		}
		w.Before = before.Digest
	}
	return w, nil
}

// holds is true when a new renderer alone is no reason for a revision: where somebody has to approve it, and where it is not the
// deployment's turn. It is the one decision that depends on the time. Deployments that took a new renderer all at once would all be
// delivered at once, and nothing remembers who had their turn.
func (c *Core) holds(in Input) bool {
	return manual(in) || c.slot(in).Wait(in.Now.Time) > 0
}

func (c *Core) slot(in Input) rollout.Slot { return rollout.SlotOf(in.Claim, c.version, c.spread) }

func manual(in Input) bool {
	return in.Spec.Blueprint.UpdatePolicy == deploymentv1alpha1.UpdateManual
}

// decide goes on with the order. A plan with a problem freezes it: nothing new is ordered, and what was begun goes on with the Sites that
// it has. What people asked for with RolloutRequests is done first, and answered.
func (c *Core) decide(ctx context.Context, in Input, f *phase.Facts, out *Output) error {
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
func (p plan) carryOut(in Input, f *phase.Facts, out *Output, s rollout.Standing, r *rolloutv1alpha1.RolloutRequest) error {
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
func (p plan) goOn(in Input, f *phase.Facts, out *Output, s rollout.Standing) error {
	if f.Problem != nil {
		return p.resume(in, f, out, s.Order)
	}
	return p.order(in, f, out)
}

// standing is what requests are judged by before anything is ordered. It notes which updates wait.
func (c *Core) standing(in Input, f *phase.Facts, p plan, out *Output) rollout.Standing {
	current, conflict := rollout.Current(slices.Collect(maps.Values(f.Observed)))
	f.Update.Blueprint = p.channel.waiting()
	all := slices.Collect(maps.Values(f.Observed))
	s := rollout.Standing{Order: current, Remembered: rollout.Remembered(all), Targets: rollout.Targets(all), Known: rollout.Known(all)}
	if current != nil {
		s.InPlace = rollout.InPlace(*current, all, ordered(compose.Parts(f.Observed, p.wanted, *current)), p.isChosen)
	}
	if f.Problem == nil && current != nil {
		next, held := rollout.Next(current, conflict, p.wish)
		if held && rollout.Unnamed(next, p.wish) {
			f.Update.Blueprint = p.wish.Request.Blueprint.Name
		}
		if held && rollout.OnlyRenderer(next, p.wish) {
			f.Update.Renderer = strconv.Itoa(int(c.version))
		}
		s.Free = !outranks(next, p.wish.Request)
		c.date(in, *current, p, out)
	}
	s.Free = (s.Free || p.channel.lost) && !conflict && !*in.Spec.Suspend
	s.Waits = f.Update != deploymentv1alpha1.UpdateStatus{}
	return s
}

// date says that the time decides, and until when.
func (c *Core) date(in Input, current rolloutv1alpha1.Order, p plan, out *Output) {
	slot := c.slot(in)
	if manual(in) || slot.Always() || !rollout.OnlyRenderer(current, p.wish) {
		return
	}
	out.again(slot.Wait(in.Now.Time))
}

// bounded lets all plans of a call together take no longer than rendering may. What is no duration is a problem of the plan.
func bounded(ctx context.Context, in Input) (context.Context, context.CancelFunc) {
	timeout, err := time.ParseDuration(in.Spec.CompileConfig.RenderTimeout)
	if err != nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// A verdict is why the update that a request approves is not delivered.
type verdict struct {
	// request that it is about, by its uid.
	request string
	// other is the same where it names another update, and failed where the update can never be delivered.
	other, failed string
	message       string
}

// approve returns the plan that a request approves. When that cannot be delivered, or not now, it returns the one that there is, and why.
func (c *Core) approve(ctx context.Context, in Input, f *phase.Facts, p plan, r *rolloutv1alpha1.RolloutRequest, out *Output) (plan, verdict, error) {
	trial := *f
	approved, err := c.plan(ctx, in, &trial, true)
	problem, err := problemOf(err)
	if err != nil {
		return p, verdict{}, err
	}
	out.Needs = append(out.Needs, approved.needs...)
	out.Stages = append(out.Stages, approved.stages...)
	if !rollout.Approves(r, approved.wish.Request) {
		return p, verdict{request: string(r.GetUID()), other: string(r.GetUID())}, nil
	}
	if problem != nil {
		out.retry(problem)
		v := verdict{request: string(r.GetUID()), message: problem.Message}
		if problem.Terminal && !problem.Retried {
			v.failed = v.request
		}
		return p, v, nil
	}
	f.Problem, f.Unsupported, f.Update = nil, trial.Unsupported, deploymentv1alpha1.UpdateStatus{}
	approved.wish.Approved = rollout.Ref(r)
	return approved, verdict{}, nil
}

func answers(f *phase.Facts, requests []rolloutv1alpha1.RolloutRequest, s rollout.Standing, v verdict) []deploymentv1alpha1.RequestStatus {
	var out []deploymentv1alpha1.RequestStatus
	for i := range requests {
		a := deploymentv1alpha1.RequestStatus{Name: requests[i].GetName(), UID: string(requests[i].GetUID())}
		result := rollout.ResultOf(&requests[i], s)
		if v.request == a.UID && !result.Refused() || result == rolloutv1alpha1.ResultUpdateFailed {
			a.Message = phase.Fit(v.message, maxSaid)
		}
		if result == rolloutv1alpha1.ResultDone {
			end, message := phase.End(f)
			a.End, a.Message = string(end), phase.Fit(message, maxSaid)
		}
		a.Result = string(result)
		out = append(out, a)
	}
	return out
}
