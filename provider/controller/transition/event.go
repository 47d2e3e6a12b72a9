package transition

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// ReasonPhaseTransition is the reason of the event for a change of the phase, unless that is a verdict.
const ReasonPhaseTransition = "PhaseTransition"

// newTransitionEvent returns the event of a step. Its name is derived from the step, so that a step has one event.
func newTransitionEvent(u *unstructured.Unstructured, s step, reason event.Reason) *corev1.Event {
	return setup.NewEvent(setup.ReferenceTo(u), s.key, eventTypeOfPhase(s.To), reason, transitionMessage(s), s.At)
}

func transitionMessage(s step) string {
	if s.From == "" {
		return "Transitioned to " + s.To
	}
	return "Transitioned from " + s.From + " to " + s.To
}

func eventTypeOfPhase(phase string) string {
	if isWarningPhase(phase) {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}

func isWarningPhase(phase string) bool {
	return slices.Contains([]string{
		string(deploymentv1alpha1.PhaseFailed), string(deploymentv1alpha1.PhaseRollingBack),
		string(workloadclusterv1alpha1.PhaseFailed), string(workloadclusterv1alpha1.PhaseDegraded),
		string(applicationv1alpha1.PhaseFailed), string(applicationv1alpha1.PhaseDegraded),
		string(bundlev1alpha1.PhaseFailed), string(bundlev1alpha1.PhaseDegraded),
	}, phase)
}
