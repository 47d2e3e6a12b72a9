package rolloutrequest

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// recordAnswer writes the answer of a deployment into a request. An accepted request stays accepted: a deployment whose status was lost, or
// that has another revision now, does not report the earlier answer any more.
func recordAnswer(r *rolloutv1alpha1.RolloutRequest, d *deployment, now metav1.Time) {
	accepted := r.Status.GetCondition(rolloutv1alpha1.TypeAccepted).Status == corev1.ConditionTrue
	if d == nil && !r.IsTooLarge() {
		s := conditionWriter{r, now, rolloutv1alpha1.ReasonUnknownDeployment, "The deployment does not exist."}
		s.setCompleted(corev1.ConditionFalse)
		if !accepted {
			s.setAccepted(corev1.ConditionFalse)
		}
		return
	}
	answer := answerToRequest(d, r)
	result := rolloutv1alpha1.Result(answer.Result)
	s := conditionWriter{r, now, xpv2.ConditionReason(result), answer.Message}
	switch {
	case result == rolloutv1alpha1.ResultTaken, result == rolloutv1alpha1.ResultDone:
		if makesRevision(r.Spec.Action) {
			r.Status.NewRevision = d.Status.Revision
		}
		r.Status.End = rolloutv1alpha1.End(answer.End)
		conditionWriter{r, now, xpv2.ConditionReason(rolloutv1alpha1.ResultTaken), acceptanceMessage(r.Spec.Action)}.setAccepted(corev1.ConditionTrue)
		s.setCompleted(conditionStatus(result == rolloutv1alpha1.ResultDone))
	case accepted && result.Final():
		conditionWriter{r, now, rolloutv1alpha1.ReasonSuperseded, "Another revision took its place."}.setCompleted(corev1.ConditionTrue)
	case accepted:
	case result.Final():
		s.setAccepted(corev1.ConditionFalse)
		s.setCompleted(corev1.ConditionFalse)
	default:
		s.setAccepted(corev1.ConditionUnknown)
		s.setCompleted(corev1.ConditionFalse)
	}
}

// answerToRequest returns the answer of a deployment to a request, with a message. A request that is too large is never passed to the deployment.
func answerToRequest(d *deployment, r *rolloutv1alpha1.RolloutRequest) deploymentv1alpha1.RequestStatus {
	answer := deploymentv1alpha1.RequestStatus{Result: string(rolloutv1alpha1.ResultWaiting)}
	if r.IsTooLarge() {
		answer.Result = string(rolloutv1alpha1.ResultTooLarge)
		answer.Message = resultMessage(rolloutv1alpha1.ResultTooLarge)
		return answer
	}
	if d.isSuccessor(r) {
		answer.Result, answer.Message = string(rolloutv1alpha1.ResultStale), messageSuccessor
		return answer
	}
	for _, s := range d.Status.Requests {
		if s.UID == string(r.GetUID()) && s.Result != "" {
			answer = s
		}
	}
	if answer.Message == "" {
		answer.Message = resultMessage(rolloutv1alpha1.Result(answer.Result))
	}
	return answer
}

// messageSuccessor is the message of a request that a deleted deployment owns.
const messageSuccessor = "The deployment that the request was made for was deleted, and another one has its name."

// makesRevision reports whether an action makes a revision. The other actions change the revision that they name.
func makesRevision(a rolloutv1alpha1.Action) bool {
	return !slices.Contains([]rolloutv1alpha1.Action{rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionMoveLedger, rolloutv1alpha1.ActionPromote}, a)
}

// acceptanceMessage returns the message for an accepted action.
func acceptanceMessage(a rolloutv1alpha1.Action) string {
	return map[rolloutv1alpha1.Action]string{
		rolloutv1alpha1.ActionRetry:         "The deployment starts a revision with the same content.",
		rolloutv1alpha1.ActionAbort:         "The deployment aborts the revision.",
		rolloutv1alpha1.ActionRollbackTo:    "The deployment starts a rollback.",
		rolloutv1alpha1.ActionMoveLedger:    "The deployment moves its ledger.",
		rolloutv1alpha1.ActionPromote:       "The deployment releases the step.",
		rolloutv1alpha1.ActionApproveUpdate: "The deployment starts a revision with the update.",
	}[a]
}

func resultMessage(r rolloutv1alpha1.Result) string {
	return map[rolloutv1alpha1.Result]string{
		rolloutv1alpha1.ResultWaiting:           "The deployment has not decided yet.",
		rolloutv1alpha1.ResultTaken:             "The deployment carries out the request.",
		rolloutv1alpha1.ResultDone:              "The revision has ended.",
		rolloutv1alpha1.ResultStale:             "The deployment has another revision, or another update waits, than the request names.",
		rolloutv1alpha1.ResultUnknownRevision:   "The deployment never had the revision that the request names.",
		rolloutv1alpha1.ResultAlreadyJudged:     "The revision has its verdict already.",
		rolloutv1alpha1.ResultNoTarget:          "The revision cannot be restored: it was not verified on all Sites, was withdrawn, or is the present one.",
		rolloutv1alpha1.ResultNothingToRestore:  "There is nothing to roll back: the Sites' directories hold the files of that revision already, or the rollback to it goes on.",
		rolloutv1alpha1.ResultUnknownStep:       "The revision has no step of that number that waits for a person.",
		rolloutv1alpha1.ResultNoUpdate:          "There is nothing to approve.",
		rolloutv1alpha1.ResultUpdateFailed:      "The update cannot be delivered.",
		rolloutv1alpha1.ResultSameHome:          "The repository holds the ledger of the deployment already.",
		rolloutv1alpha1.ResultUnknownRepository: "The deployment delivers to no repository of the configuration that the request names.",
		rolloutv1alpha1.ResultTooLarge:          "The object is too large, with its labels and annotations. It was not evaluated.",
		rolloutv1alpha1.ResultNotSupported:      "This version does not carry the action out.",
	}[r]
}

func conditionStatus(isTrue bool) corev1.ConditionStatus {
	if isTrue {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// A conditionWriter sets conditions of a request with one reason and message.
type conditionWriter struct {
	request *rolloutv1alpha1.RolloutRequest
	now     metav1.Time
	reason  xpv2.ConditionReason
	message string
}

func (s conditionWriter) setAccepted(status corev1.ConditionStatus) {
	s.setCondition(rolloutv1alpha1.TypeAccepted, status)
}

func (s conditionWriter) setCompleted(status corev1.ConditionStatus) {
	s.setCondition(rolloutv1alpha1.TypeCompleted, status)
}

func (s conditionWriter) setCondition(typ xpv2.ConditionType, status corev1.ConditionStatus) {
	s.request.Status.SetConditions(xpv2.Condition{
		Type: typ, Status: status, Reason: s.reason, Message: s.message,
		LastTransitionTime: s.now, ObservedGeneration: s.request.GetGeneration(),
	})
}
