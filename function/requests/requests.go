// Package requests chooses the open RolloutRequests of a deployment, and returns their results. It is pure.
package requests

import (
	"slices"
	"strconv"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/projection"
)

// maxResultMessage is the greatest length of a message about a request, as in the schema.
const maxResultMessage = 1024

// A Refusal is the reason why the update that a request approves is not delivered.
type Refusal struct {
	// Message to the user, and the result that the request has by it.
	Message string
	Result  step.Result
}

// Open returns the requests for a deployment that are not being deleted, oldest first. Above rolloutv1alpha1.MaxOpen requests it returns the first by
// their turn.
func Open(c rolloutv1alpha1.ClaimReference, all []rolloutv1alpha1.RolloutRequest) []rolloutv1alpha1.RolloutRequest {
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

// Refuse returns why requests that approve an update do not take effect, by their uid, from the compilation with the waiting update: its request, and its
// problem. One compilation answers for all of them.
func Refuse(all []rolloutv1alpha1.RolloutRequest, waits compile.Request, p *phase.Problem) map[string]Refusal {
	out := map[string]Refusal{}
	for i := range all {
		if all[i].Spec.Action == rolloutv1alpha1.ActionApproveUpdate {
			out[string(all[i].GetUID())] = refuseApproval(all[i].Spec.Update, waits, p)
		}
	}
	return out
}

// refuseApproval returns why a request that names an update does not take effect. As long as the catalog was not read, nothing is known of it.
func refuseApproval(saw *rolloutv1alpha1.UpdateReference, waits compile.Request, p *phase.Problem) Refusal {
	switch {
	case !approvesUpdate(saw, waits):
		return Refusal{Result: step.ResultStale}
	case p == nil:
		return Refusal{}
	case p.Terminal && !p.Retried:
		return Refusal{Message: p.Message, Result: step.ResultUpdateFailed}
	case p.Reason == deploymentv1alpha1.ReasonUnknown:
		return Refusal{Message: p.Message}
	}
	return Refusal{Message: p.Message, Result: step.ResultWaiting}
}

// Results returns the results of the requests of a decided step. Before the ledger is recorded each of them waits.
func Results(status *phase.Input, decided step.Input, refusals map[string]Refusal, isRecorded bool) []deploymentv1alpha1.RequestStatus {
	var out []deploymentv1alpha1.RequestStatus
	for _, r := range decided.Requests {
		result := rolloutv1alpha1.ResultWaiting
		if isRecorded {
			result = rolloutv1alpha1.Result(step.ResultOf(status.State, decided, r))
		}
		a := deploymentv1alpha1.RequestStatus{Name: r.Ref.Name, UID: r.Ref.UID, Result: string(result)}
		if result == rolloutv1alpha1.ResultWaiting || result == rolloutv1alpha1.ResultUpdateFailed {
			a.Message = projection.Fit(refusals[a.UID].Message, maxResultMessage)
		}
		if result == rolloutv1alpha1.ResultDone {
			end, message := phase.End(status)
			a.End, a.Message = string(end), projection.Fit(message, maxResultMessage)
		}
		out = append(out, a)
	}
	return out
}
