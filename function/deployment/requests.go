package deployment

import (
	"context"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
	"github.com/intentplane/intentplane/function/step"
)

// maxResultMessage is how many characters a message about a request has at most, as in the schema.
const maxResultMessage = 1024

// waitingUpdate returns the update that waits: a Blueprint, a renderer, or both.
func (c *Core) waitingUpdate(o Observed, k Compiled) deploymentv1alpha1.UpdateStatus {
	update := deploymentv1alpha1.UpdateStatus{Blueprint: k.channel.waitingBlueprint()}
	if k.Problem != nil || o.order == nil || o.state.IsRejected() || !isOnlyRenderer(o, k.desired) {
		return update
	}
	_, holds := step.Step(o.state, step.Input{Versions: versionsOf(k), Desired: &k.desired})
	if holds.Start == step.HoldRendererWaits || holds.Start == step.HoldApprovalWaits {
		update.Renderer = strconv.Itoa(int(c.version))
	}
	return update
}

// versionsOf returns the versions that the digests and trees of a call depend on.
func versionsOf(k Compiled) step.Versions {
	return step.Versions{Scheme: digest.Scheme, Renderer: k.renderer}
}

// stepRequests returns RolloutRequests as the next event is decided by them. The ledger moves only to a repository that a delivery goes to.
func (o Observed) stepRequests(refused refusal) []step.Request {
	var out []step.Request
	for i := range o.requests {
		r := rollout.RequestOf(&o.requests[i])
		r.ToConfigRef = o.repositoryNamed(o.requests[i].Spec.ToConfigRef)
		if r.Ref.UID == refused.request {
			r.NamesOtherUpdate, r.UpdateFailed = refused.namesOther, refused.isFinal
		}
		out = append(out, r)
	}
	return out
}

// repositoryNamed returns the name by which a ledger knows the repository of a configuration. It is empty if no delivery goes there.
func (o Observed) repositoryNamed(ref *rolloutv1alpha1.ConfigReference) string {
	if ref == nil {
		return ""
	}
	name := configName(ref.Kind, ref.Name)
	for _, d := range o.deliveries {
		if homeName(d) == name {
			return name
		}
	}
	return ""
}

// A refusal is why the update that a request approves is not delivered.
type refusal struct {
	// request that approves it, by its uid.
	request string

	// message to the user.
	message string

	// namesOther says that the request names another update than the one that waits, and isFinal that the update can never be delivered.
	namesOther, isFinal bool
}

// compileApproved returns what is compiled with the update that a request approves. When that cannot be delivered, or not now, it returns what
// was compiled without the update, and why.
func (c *Core) compileApproved(ctx context.Context, in Input, o Observed, k Compiled, request step.Request) (Compiled, error) {
	approved, err := c.compileSpec(ctx, in, o, true)
	if err != nil {
		return Compiled{}, err
	}
	k.needs = append(k.needs, approved.needs...)
	k.timer.stages = append(k.timer.stages, approved.timer.stages...)
	if !rollout.Approves(updateNamedBy(o.requests, request.Ref.UID), approved.request) {
		k.refusal = refusal{request: request.Ref.UID, namesOther: true}
		return k, nil
	}
	if p := approved.Problem; p != nil {
		k.recheck = k.recheck.joinWith(recheckOf(p))
		k.refusal = refusal{request: request.Ref.UID, message: p.Message, isFinal: p.Terminal && !p.Retried}
		return k, nil
	}
	approved.needs, approved.timer, approved.recheck, approved.update = k.needs, k.timer, k.recheck, k.update
	approved.desired.ApprovedBy = &request.Ref
	return approved, nil
}

// updateNamedBy returns the update that a RolloutRequest names, or nil for any.
func updateNamedBy(all []rolloutv1alpha1.RolloutRequest, uid string) *rolloutv1alpha1.UpdateReference {
	for i := range all {
		if string(all[i].GetUID()) == uid {
			return all[i].Spec.Update
		}
	}
	return nil
}

// requestResults returns the results of the RolloutRequests.
func requestResults(status *phase.Input, in Input, o Observed, k Compiled) []deploymentv1alpha1.RequestStatus {
	var out []deploymentv1alpha1.RequestStatus
	decided := stepInput(in, o, k, status.State)
	decided.HasEnded = phase.Ended(status)
	for _, r := range decided.Requests {
		result := rolloutv1alpha1.ResultWaiting // While the home of the ledger is not known.
		if o.home.IsKnown {
			result = rolloutv1alpha1.Result(step.ResultOf(status.State, decided, r))
		}
		a := deploymentv1alpha1.RequestStatus{Name: r.Ref.Name, UID: r.Ref.UID, Result: string(result)}
		if k.refusal.request == a.UID && !result.Refused() || result == rolloutv1alpha1.ResultUpdateFailed {
			a.Message = phase.Fit(k.refusal.message, maxResultMessage)
		}
		if result == rolloutv1alpha1.ResultDone {
			end, message := phase.End(status)
			a.End, a.Message = string(end), phase.Fit(message, maxResultMessage)
		}
		out = append(out, a)
	}
	return out
}
