package deployment

import (
	"context"
	"maps"
	"slices"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxSaid is how many characters a message about a request has at most, as the schema has it.
const maxSaid = 1024

// standing is what requests are judged by before anything is ordered. It notes which updates wait.
func (c *Core) standing(in Input, f *phase.Input, p plan, out *Output) rollout.Standing {
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

// A verdict is why the update that a request approves is not delivered.
type verdict struct {
	// request that it is about, by its uid.
	request string
	// other is the same where it names another update, and failed where the update can never be delivered.
	other, failed string
	message       string
}

// approve returns the plan that a request approves. When that cannot be delivered, or not now, it returns the one that there is, and why.
func (c *Core) approve(ctx context.Context, in Input, f *phase.Input, p plan, r *rolloutv1alpha1.RolloutRequest, out *Output) (plan, verdict, error) {
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

func answers(f *phase.Input, requests []rolloutv1alpha1.RolloutRequest, s rollout.Standing, v verdict) []deploymentv1alpha1.RequestStatus {
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
