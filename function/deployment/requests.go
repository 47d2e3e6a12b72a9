package deployment

import (
	"context"
	"slices"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/projection"
)

// maxResultMessage is the greatest length of a message about a request, as in the schema.
const maxResultMessage = 1024

// waitingUpdate returns the update that waits: a Blueprint, a renderer, or both.
func (c *Core) waitingUpdate(o Observed, k Compiled) deploymentv1alpha1.UpdateStatus {
	update := deploymentv1alpha1.UpdateStatus{Blueprint: k.channel.WaitingBlueprint()}
	if k.Problem != nil || o.state.Current == nil || o.state.IsRejected() || !isOnlyRenderer(o, k.desired) {
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

// stepRequests returns RolloutRequests as the next event is decided by them. The ledger moves only to a repository that a delivery goes to, or that the
// spec delivers to: the delivery may have been lost, or wait for the ledger whose home is gone.
func (o Observed) stepRequests(k Compiled) []step.Request {
	var out []step.Request
	for i := range o.requests {
		r := evidence.RequestOf(&o.requests[i])
		r.ToConfigRef = ledgerhome.NameAmong(o.requests[i].Spec.ToConfigRef, o.deliveries, k.deliveries)
		r.UpdateResult = k.refusals[r.Ref.UID].result
		out = append(out, r)
	}
	return out
}

// openRequests returns the requests for a deployment that are not being deleted, oldest first. Above rolloutv1alpha1.MaxOpen requests it returns the first by
// their turn.
func openRequests(c rolloutv1alpha1.ClaimReference, all []rolloutv1alpha1.RolloutRequest) []rolloutv1alpha1.RolloutRequest {
	out := slices.DeleteFunc(slices.Clone(all), func(r rolloutv1alpha1.RolloutRequest) bool {
		return !r.IsFor(c) || r.GetDeletionTimestamp() != nil
	})
	slices.SortFunc(out, rolloutv1alpha1.CompareTurn)
	out = out[:min(len(out), rolloutv1alpha1.MaxOpen)]
	slices.SortFunc(out, rolloutv1alpha1.CompareAge)
	return out
}

// approvesUpdate is true for a request that names no update, or the waiting update.
func approvesUpdate(saw *rolloutv1alpha1.UpdateReference, waits compile.Request) bool {
	b := waits.Blueprint
	if saw == nil || b == nil {
		return true
	}
	named := func(saw, current string) bool { return saw == "" || saw == current }
	return named(saw.Blueprint, b.Name) && named(saw.Digest, b.Digest) && named(saw.Renderer, strconv.Itoa(int(waits.Renderer)))
}

// A refusal is the reason why the update that a request approves is not delivered.
type refusal struct {
	// message to the user, and the result that the request has by it.
	message string
	result  step.Result
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
	k.refusals = refuseApprovals(o.requests, approved)
	k.recheck = k.recheck.joinWith(recheckOf(approved.Problem))
	approval := chosenApproval(in, o, k)
	if approval == nil || approved.Problem != nil {
		return k, nil
	}
	approved.needs, approved.timer, approved.recheck, approved.update, approved.refusals = k.needs, k.timer, k.recheck, k.update, k.refusals
	approved.desired.ApprovedBy = approval
	return approved, nil
}

// refuseApprovals returns why requests that approve an update do not take effect, by their uid. One compilation answers for all of them.
func refuseApprovals(all []rolloutv1alpha1.RolloutRequest, approved Compiled) map[string]refusal {
	out := map[string]refusal{}
	for i := range all {
		if all[i].Spec.Action == rolloutv1alpha1.ActionApproveUpdate {
			out[string(all[i].GetUID())] = refuseApproval(all[i].Spec.Update, approved)
		}
	}
	return out
}

// refuseApproval returns why a request that names an update does not take effect. As long as the catalog was not read, nothing is known of it.
func refuseApproval(saw *rolloutv1alpha1.UpdateReference, approved Compiled) refusal {
	p := approved.Problem
	switch {
	case !approvesUpdate(saw, approved.request):
		return refusal{result: step.ResultStale}
	case p == nil:
		return refusal{}
	case p.Terminal && !p.Retried:
		return refusal{message: p.Message, result: step.ResultUpdateFailed}
	case p.Reason == deploymentv1alpha1.ReasonUnknown:
		return refusal{message: p.Message}
	}
	return refusal{message: p.Message, result: step.ResultWaiting}
}

// requestResults returns the results of the RolloutRequests.
func requestResults(status *phase.Input, in Input, o Observed, k Compiled) []deploymentv1alpha1.RequestStatus {
	var out []deploymentv1alpha1.RequestStatus
	decided := stepInput(in, o, k, status.State)
	decided.HasEnded, decided.Proof = phase.Ended(status), status.Proof()
	for _, r := range decided.Requests {
		result := rolloutv1alpha1.ResultWaiting // While the home of the ledger is not known, or nothing is recorded there: it may have been lost from sight.
		if o.home.IsKnown && o.home.State.Current != nil {
			result = rolloutv1alpha1.Result(step.ResultOf(status.State, decided, r))
		}
		a := deploymentv1alpha1.RequestStatus{Name: r.Ref.Name, UID: r.Ref.UID, Result: string(result)}
		if result == rolloutv1alpha1.ResultWaiting || result == rolloutv1alpha1.ResultUpdateFailed {
			a.Message = projection.Fit(k.refusals[a.UID].message, maxResultMessage)
		}
		if result == rolloutv1alpha1.ResultDone {
			end, message := phase.End(status)
			a.End, a.Message = string(end), projection.Fit(message, maxResultMessage)
		}
		out = append(out, a)
	}
	return out
}
