package rolloutrequest

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// closed is true for a request whose answer never changes.
func closed(r *rolloutv1alpha1.RolloutRequest) bool {
	accepted := r.Status.GetCondition(rolloutv1alpha1.TypeAccepted)
	refused := accepted.Status == corev1.ConditionFalse && accepted.Reason != rolloutv1alpha1.ReasonUnknownDeployment
	return refused || r.Status.GetCondition(rolloutv1alpha1.TypeCompleted).Status == corev1.ConditionTrue
}

// record writes the answer of a deployment into a request. What was accepted stays accepted: a status that lost its answers says
// nothing, and a deployment that went on to another revision does not say any more what it did before.
func record(r *rolloutv1alpha1.RolloutRequest, d *deployment, now metav1.Time) {
	accepted := r.Status.GetCondition(rolloutv1alpha1.TypeAccepted).Status == corev1.ConditionTrue
	if d == nil && !tooLarge(r) {
		s := say{r, now, rolloutv1alpha1.ReasonUnknownDeployment, "There is no such deployment."}
		s.completed(corev1.ConditionFalse)
		if !accepted {
			s.accepted(corev1.ConditionFalse)
		}
		return
	}
	given := answer(d, r)
	result := rolloutv1alpha1.Result(given.Result)
	s := say{r, now, xpv2.ConditionReason(result), given.Message}
	switch {
	case result == rolloutv1alpha1.ResultTaken, result == rolloutv1alpha1.ResultDone:
		if makesRevision(r.Spec.Action) {
			r.Status.NewRevision = d.Status.Revision
		}
		r.Status.End = rolloutv1alpha1.End(given.End)
		say{r, now, xpv2.ConditionReason(rolloutv1alpha1.ResultTaken), acceptance(r.Spec.Action)}.accepted(corev1.ConditionTrue)
		s.completed(status(result == rolloutv1alpha1.ResultDone))
	case accepted && result.Final():
		say{r, now, rolloutv1alpha1.ReasonSuperseded, "Another revision took its place."}.completed(corev1.ConditionTrue)
	case accepted:
	case result.Final():
		s.accepted(corev1.ConditionFalse)
		s.completed(corev1.ConditionFalse)
	default:
		s.accepted(corev1.ConditionUnknown)
		s.completed(corev1.ConditionFalse)
	}
}

// answer of a deployment to a request, with words for it. One that is too large is never told to it.
func answer(d *deployment, r *rolloutv1alpha1.RolloutRequest) deploymentv1alpha1.RequestStatus {
	given := deploymentv1alpha1.RequestStatus{Result: string(rolloutv1alpha1.ResultWaiting)}
	if tooLarge(r) {
		given.Result = string(rolloutv1alpha1.ResultTooLarge)
		given.Message = messages(rolloutv1alpha1.ResultTooLarge)
		return given
	}
	for _, s := range d.Status.Requests {
		if s.UID == string(r.GetUID()) && s.Result != "" {
			given = s
		}
	}
	if given.Message == "" {
		given.Message = messages(rolloutv1alpha1.Result(given.Result))
	}
	return given
}

// makesRevision is true for an action whose request makes a revision. The others change the one that they name.
func makesRevision(a rolloutv1alpha1.Action) bool {
	return a != rolloutv1alpha1.ActionAbort && a != rolloutv1alpha1.ActionPromote
}

// acceptance says what a deployment does for an action.
func acceptance(a rolloutv1alpha1.Action) string {
	return map[rolloutv1alpha1.Action]string{
		rolloutv1alpha1.ActionRetry:         "The deployment starts a revision with the same content.",
		rolloutv1alpha1.ActionAbort:         "The deployment gives the revision up.",
		rolloutv1alpha1.ActionRollbackTo:    "The deployment starts a revision that goes back.",
		rolloutv1alpha1.ActionPromote:       "The deployment releases the step.",
		rolloutv1alpha1.ActionApproveUpdate: "The deployment starts a revision with the update.",
	}[a]
}

func messages(r rolloutv1alpha1.Result) string {
	return map[rolloutv1alpha1.Result]string{
		rolloutv1alpha1.ResultWaiting:          "The deployment did not decide yet.",
		rolloutv1alpha1.ResultTaken:            "The deployment carries it out.",
		rolloutv1alpha1.ResultDone:             "The revision came to its end.",
		rolloutv1alpha1.ResultStale:            "The deployment has another revision, or another update waits, than the request names.",
		rolloutv1alpha1.ResultUnknownRevision:  "The deployment never had the revision that the request names.",
		rolloutv1alpha1.ResultAlreadyJudged:    "The revision has its verdict already.",
		rolloutv1alpha1.ResultNoTarget:         "There is no way back to the revision that the request asks for: it was not verified everywhere, was taken back, or is the present one.",
		rolloutv1alpha1.ResultNothingToRestore: "There is nothing to roll back: the Sites' directories hold the files of that revision already, or the rollback to it goes on.",
		rolloutv1alpha1.ResultUnknownStep:      "The revision has no step of that number that waits for a person.",
		rolloutv1alpha1.ResultNoUpdate:         "There is nothing to approve.",
		rolloutv1alpha1.ResultUpdateFailed:     "The update cannot be delivered.",
		rolloutv1alpha1.ResultTooLarge:         "The object is too large, with its labels and annotations. Nobody looked at what it asks for.",
		rolloutv1alpha1.ResultNotSupported:     "This version does not carry the action out.",
	}[r]
}

func status(is bool) corev1.ConditionStatus {
	if is {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}

// say is a reason and words for it.
type say struct {
	request *rolloutv1alpha1.RolloutRequest
	now     metav1.Time
	reason  xpv2.ConditionReason
	message string
}

func (s say) accepted(is corev1.ConditionStatus)  { s.set(rolloutv1alpha1.TypeAccepted, is) }
func (s say) completed(is corev1.ConditionStatus) { s.set(rolloutv1alpha1.TypeCompleted, is) }

func (s say) set(typ xpv2.ConditionType, is corev1.ConditionStatus) {
	s.request.Status.SetConditions(xpv2.Condition{
		Type: typ, Status: is, Reason: s.reason, Message: s.message,
		LastTransitionTime: s.now, ObservedGeneration: s.request.GetGeneration(),
	})
}
