package deployment

import (
	"context"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxResultMessage is how many characters a message about a request has at most, as in the schema.
const maxResultMessage = 1024

// standingOf returns what RolloutRequests are judged by before anything is decided, and which updates wait.
func (c *Core) standingOf(in Input, o Observed, k Compiled) (rollout.Standing, deploymentv1alpha1.UpdateStatus) {
	all := o.allDeliveries()
	s := rollout.Standing{Order: o.order, Remembered: rollout.Remembered(all), Targets: rollout.Targets(all), Known: rollout.Known(all)}
	if o.order != nil {
		s.InPlace = rollout.InPlace(*o.order, all, sortByName(compose.Parts(o.deliveries, k.deliveries, *o.order)), k.isChosen)
	}
	update := deploymentv1alpha1.UpdateStatus{Blueprint: k.channel.waitingBlueprint()}
	if k.Problem == nil && o.order != nil {
		next, deferred := rollout.Next(o.order, o.hasConflict, k.desired)
		if deferred && rollout.Unnamed(next, k.desired) {
			update.Blueprint = k.desired.Request.Blueprint.Name
		}
		if deferred && rollout.OnlyRenderer(next, k.desired) {
			update.Renderer = strconv.Itoa(int(c.version))
		}
		s.Free = !isOutranked(next, k.desired.Request)
	}
	s.Free = (s.Free || k.channel.isPinnedGone) && !o.hasConflict && !*in.Spec.Suspend
	s.Waits = update != deploymentv1alpha1.UpdateStatus{}
	return s, update
}

// A refusal is why the update that a request approves is not delivered.
type refusal struct {
	// request that approves it, by its uid.
	request string

	// message to the user.
	message string
}

// compileApproved returns what is compiled with the update that a request approves. When that cannot be delivered, or not now, it returns what
// was compiled without the update, and why.
func (c *Core) compileApproved(ctx context.Context, in Input, o Observed, k Compiled) (Compiled, error) {
	approved, err := c.compileSpec(ctx, in, o, true)
	if err != nil {
		return Compiled{}, err
	}
	k.needs = append(k.needs, approved.needs...)
	k.timer.stages = append(k.timer.stages, approved.timer.stages...)
	uid := string(k.request.GetUID())
	if !rollout.Approves(k.request, approved.desired.Request) {
		k.refusal, k.standing.Other = refusal{request: uid}, uid
		return k, nil
	}
	if p := approved.Problem; p != nil {
		k.recheck = k.recheck.joinWith(recheckOf(p))
		k.refusal = refusal{request: uid, message: p.Message}
		if p.Terminal && !p.Retried {
			k.standing.Failed = uid
		}
		return k, nil
	}
	approved.needs, approved.timer, approved.recheck = k.needs, k.timer, k.recheck
	approved.requests, approved.standing, approved.request = k.requests, k.standing, k.request
	approved.desired.Approved = rollout.Ref(k.request)
	return approved, nil
}

// requestResults returns the results of the RolloutRequests.
func requestResults(status *phase.Input, k Compiled) []deploymentv1alpha1.RequestStatus {
	var out []deploymentv1alpha1.RequestStatus
	s := k.standing
	s.Order, s.Ended = status.Order, phase.Ended(status)
	for i := range k.requests {
		r := &k.requests[i]
		a := deploymentv1alpha1.RequestStatus{Name: r.GetName(), UID: string(r.GetUID())}
		result := rollout.ResultOf(r, s)
		if k.refusal.request == a.UID && !result.Refused() || result == rolloutv1alpha1.ResultUpdateFailed {
			a.Message = phase.Fit(k.refusal.message, maxResultMessage)
		}
		if result == rolloutv1alpha1.ResultDone {
			end, message := phase.End(status)
			a.End, a.Message = string(end), phase.Fit(message, maxResultMessage)
		}
		a.Result = string(result)
		out = append(out, a)
	}
	return out
}
