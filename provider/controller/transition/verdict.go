package transition

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Reasons of events for changes of the phase by which a revision of a deployment comes to a verdict, or to the end of its rollback.
const (
	// ReasonRevisionVerified is the reason of the event for a revision that was verified.
	ReasonRevisionVerified = "Verified"

	// ReasonRevisionRejected is the reason of the event for a revision that was rejected: it is rolled back, or that has to be done by a user.
	ReasonRevisionRejected = "Rejected"

	// ReasonRevisionRolledBack is the reason of the event for the end of a rollback: the Sites run an earlier revision again.
	ReasonRevisionRolledBack = "RolledBack"
)

// eventReasonOfStep returns the reason of the event for a step. A rejection is one for a revision, also where two phases show it.
func (s *phaseLog) eventReasonOfStep(transition step, status *observedStatus, isLast bool) event.Reason {
	isPresent := isLast && transition.To == status.Phase
	switch {
	case transition.Revision == 0:
	case isRejection(transition, status, isPresent) && s.rejected != transition.Revision:
		return event.Reason(ReasonRevisionRejected)
	case transition.To == string(deploymentv1alpha1.PhaseSucceeded) && transition.From == string(deploymentv1alpha1.PhaseRollingBack):
		return event.Reason(ReasonRevisionRolledBack)
	case transition.To == string(deploymentv1alpha1.PhaseSucceeded) && transition.From == string(deploymentv1alpha1.PhaseValidating):
		return event.Reason(ReasonRevisionVerified)
	}
	return event.Reason(ReasonPhaseTransition)
}

// isRejection is true for a step that begins a rollback, and for a step to Failed because of a rejection that nothing rolls back yet.
func isRejection(transition step, status *observedStatus, isPresent bool) bool {
	switch deploymentv1alpha1.Phase(transition.To) {
	case deploymentv1alpha1.PhaseRollingBack:
		return true
	case deploymentv1alpha1.PhaseFailed:
		return isPresent && status.Rollback.Reason != ""
	}
	return false
}
