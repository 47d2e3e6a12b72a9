package transition

import (
	"context"
	"strconv"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Annotations of the event for a change of the phase, for programs that forward events. An unknown value is left out. All but the revision are only on the
// event for the last change of a status, since a status describes its current phase.
const (
	// AnnotationRevision is the revision at that time.
	AnnotationRevision = "intentplane.dev/revision"

	// AnnotationReason is the reason of the phase, from the condition.
	AnnotationReason = "intentplane.dev/reason"

	// AnnotationMessage is the message of that condition.
	AnnotationMessage = "intentplane.dev/message"

	// AnnotationCommit is the commit that brought the revision to the branch.
	AnnotationCommit = "intentplane.dev/commit"

	// AnnotationRequest is the RolloutRequest that made or last changed the revision.
	AnnotationRequest = "intentplane.dev/request"

	// AnnotationRequestedBy is the user who made the RolloutRequest.
	AnnotationRequestedBy = "intentplane.dev/requested-by"
)

// maxEventMessage is the API server's limit for the message of an event, in characters.
const maxEventMessage = 1024

// explainEvent adds the explanation of a step from the status: in words to the message, and for programs as annotations. It reads the RolloutRequest from the
// cache, and omits the user if the request was deleted.
func (r *Reconciler) explainEvent(ctx context.Context, e *corev1.Event, transition step, status *observedStatus, isLast bool) {
	all := map[string]string{}
	if transition.Revision != 0 {
		all[AnnotationRevision] = strconv.FormatInt(transition.Revision, 10)
	}
	all[AnnotationCommit] = status.commitOfTransition(transition, isLast)
	if status.describesPhase(transition, isLast) {
		all[AnnotationReason], all[AnnotationMessage] = status.phaseReason(), status.Message
		request := status.rolloutRequest()
		all[AnnotationRequest], all[AnnotationRequestedBy] = request.Name, r.requesterOf(ctx, e.Namespace, request)
		e.Message = oneline.Cut(strings.TrimSuffix(e.Message+": "+status.Message, ": "), maxEventMessage)
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	e.Annotations = all
}

// describesPhase is true for the transition to the current phase, which the status describes.
func (s *observedStatus) describesPhase(transition step, isLast bool) bool {
	return isLast && transition.To == s.Phase
}

// commitOfTransition returns the revision's commit in the branch, or "" for a step that the status no longer describes.
func (s *observedStatus) commitOfTransition(transition step, isLast bool) string {
	if !s.describesPhase(transition, isLast) {
		return ""
	}
	return s.Delivery.GitCommit
}

// requesterOf returns the user who made a RolloutRequest, or "". Another user may have made another one of its name since. No invisible character makes the
// name look like the name of another user.
func (r *Reconciler) requesterOf(ctx context.Context, namespace string, request deploymentv1alpha1.RequestStatus) string {
	o := &rolloutv1alpha1.RolloutRequest{}
	if request.Name == "" || r.kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: request.Name}, o) != nil || string(o.GetUID()) != request.UID {
		return ""
	}
	return oneline.Clean(o.Spec.RequestedBy, 0)
}

// phaseReason is the reason of the condition Stalled or, if that is not true, of Reconciling.
func (s *observedStatus) phaseReason() string {
	for _, typ := range []xpv2.ConditionType{deploymentv1alpha1.TypeStalled, deploymentv1alpha1.TypeReconciling} {
		if c := s.GetCondition(typ); c.Status == corev1.ConditionTrue {
			return string(c.Reason)
		}
	}
	return ""
}
