package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/phase"
)

func TestPace(t *testing.T) {
	valid := phase.Condition{Type: "Valid", Status: corev1.ConditionTrue, Reason: "Valid"}
	stalled := func(message string) phase.Condition {
		return phase.Condition{Type: "Stalled", Status: corev1.ConditionFalse, Reason: "Progressing", Message: message}
	}
	ready := func(status corev1.ConditionStatus) phase.Condition {
		return phase.Condition{Type: "Ready", Status: status, Reason: "Whatever"}
	}
	at := deploymentv1alpha1.IntentDeploymentStatus{
		Phase: deploymentv1alpha1.PhaseDelivering, Transitions: []deploymentv1alpha1.Transition{{To: deploymentv1alpha1.PhasePending, At: metav1.Unix(1, 0)}},
	}
	next := at
	next.Phase = deploymentv1alpha1.PhaseValidating

	for name, tc := range map[string]struct {
		reason string
		told   []phase.Condition
		says   []phase.Condition
		ready  bool
		want   deploymentv1alpha1.Phase
	}{
		"First":     {reason: "Who has no conditions yet gets everything at once.", says: []phase.Condition{valid}, want: next.Phase},
		"Settled":   {reason: "The status follows conditions that are there.", told: []phase.Condition{valid, ready("False")}, says: []phase.Condition{valid}, want: next.Phase},
		"Added":     {reason: "A type that was never told comes with everything.", told: []phase.Condition{valid, ready("False")}, says: []phase.Condition{valid, stalled("")}, want: next.Phase},
		"Turned":    {reason: "Conditions go first.", told: []phase.Condition{valid, stalled("a"), ready("False")}, says: []phase.Condition{valid, stalled("b")}, want: at.Phase},
		"Ready":     {reason: "So does readiness.", told: []phase.Condition{valid, ready("False")}, says: []phase.Condition{valid}, ready: true, want: at.Phase},
		"Unready":   {reason: "In either direction.", told: []phase.Condition{valid, ready("True")}, says: []phase.Condition{valid}, want: at.Phase},
		"ReadyNone": {reason: "Crossplane did not tell of readiness yet.", told: []phase.Condition{valid}, says: []phase.Condition{valid}, ready: true, want: next.Phase},
	} {
		t.Run(name, func(t *testing.T) {
			out := &function.Output{Status: next.DeepCopy(), Conditions: tc.says, Ready: tc.ready}
			if err := pace(function.Input{Status: at, Conditions: tc.told}, out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.Status.Phase); diff != "" {
				t.Errorf("%s\npace(...): phase: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.says, out.Conditions); diff != "" {
				t.Errorf("%s\npace(...): conditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
