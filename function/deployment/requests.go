package deployment

import (
	"context"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/requests"
)

// waitingUpdate returns the update that waits: a Blueprint, a renderer, or both.
func (c *Core) waitingUpdate(o Observed, k Compiled) deploymentv1alpha1.UpdateStatus {
	update := deploymentv1alpha1.UpdateStatus{Blueprint: k.channel.WaitingBlueprint()}
	if k.Problem != nil || o.state.Current == nil || o.state.IsRejected() || !isOnlyRenderer(o, k.desired) {
		return update
	}
	_, holds := step.Step(o.state, step.Input{Versions: versionsOfCall(k), Desired: &k.desired})
	if holds.Start == step.HoldRendererWaits || holds.Start == step.HoldApprovalWaits {
		update.Renderer = strconv.Itoa(int(c.version))
	}
	return update
}

// versionsOfCall returns the versions that the digests and trees of a call depend on.
func versionsOfCall(k Compiled) step.Versions {
	return step.Versions{Scheme: digest.Scheme, Renderer: k.renderer}
}

// stepRequests returns RolloutRequests as the next event is decided by them. The ledger moves only to a repository that a delivery goes to, or that the
// spec delivers to: the delivery may have been lost, or wait for the ledger whose home is gone.
func (o Observed) stepRequests(k Compiled) []step.Request {
	var out []step.Request
	for i := range o.requests {
		r := evidence.RequestOf(&o.requests[i])
		r.ToConfigRef = ledgerhome.NameAmong(o.requests[i].Spec.ToConfigRef, o.deliveries, k.deliveries)
		r.UpdateResult = k.refusals[r.Ref.UID].Result
		out = append(out, r)
	}
	return out
}

// chosenApproval returns the reference of the request that takes effect now, if that approves an update, or nil.
func chosenApproval(in Input, o Observed, k Compiled) *ledger.RequestReference {
	chosen := step.ChooseRequest(o.state, stepInput(in, o, k, o.state))
	if chosen == nil || chosen.Action != step.ActionApproveUpdate {
		return nil
	}
	return &chosen.Ref
}

// compileApproved returns the compilation with the waiting update, for the first request that approves it. If it can never be delivered, or not
// now, it returns the compilation without the update, and the reason, for each request that approves an update: later requests may take effect.
func (c *Core) compileApproved(ctx context.Context, in Input, o Observed, k Compiled) (Compiled, error) {
	approved, err := c.compileSpec(ctx, in, o, true)
	if err != nil {
		return Compiled{}, err
	}
	k.needs = append(k.needs, approved.needs...)
	k.timer.stages = append(k.timer.stages, approved.timer.stages...)
	k.refusals = requests.Refuse(o.requests, approved.request, approved.Problem)
	k.recheck = k.recheck.mergeRecheck(recheckOfProblem(approved.Problem))
	approval := chosenApproval(in, o, k)
	if approval == nil || approved.Problem != nil {
		return k, nil
	}
	approved.needs, approved.timer, approved.recheck, approved.update, approved.refusals = k.needs, k.timer, k.recheck, k.update, k.refusals
	approved.desired.ApprovedBy = approval
	return approved, nil
}

// requestResults returns the results of the RolloutRequests. While the home of the ledger is not known, or nothing is recorded there, each of them waits: the
// ledger may have been lost from sight.
func requestResults(status *phase.Input, in Input, o Observed, k Compiled) []deploymentv1alpha1.RequestStatus {
	decided := stepInput(in, o, k, status.State)
	decided.HasEnded, decided.Proof = phase.Ended(status), status.Proof()
	return requests.Results(status, decided, k.refusals, o.home.IsKnown && o.home.State.Current != nil)
}
