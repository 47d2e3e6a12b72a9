package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/function/projection"
)

func TestPace(t *testing.T) {
	valid := projection.Condition{Type: "Valid", Status: corev1.ConditionTrue, Reason: "Valid"}
	stalled := func(message string) projection.Condition {
		return projection.Condition{Type: "Stalled", Status: corev1.ConditionFalse, Reason: "Progressing", Message: message}
	}
	ready := func(status corev1.ConditionStatus) projection.Condition {
		return projection.Condition{Type: "Ready", Status: status, Reason: "Whatever"}
	}
	type status struct{ Phase string }
	at, next := status{"Delivering"}, status{"Validating"}
	cluster := struct{ At *status }{&at}

	for name, tc := range map[string]struct {
		reason string
		told   []projection.Condition
		was    any
		is     any
		says   []projection.Condition
		ready  bool
		want   any
		paced  bool
	}{
		"First":     {reason: "Who has no conditions yet gets everything at once.", was: at, is: next, says: []projection.Condition{valid}, want: next},
		"Settled":   {reason: "The status follows conditions that are there.", was: at, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid}, want: next},
		"Added":     {reason: "A type that was never told comes with everything.", was: at, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid, stalled("")}, want: next},
		"Turned":    {reason: "Conditions go first.", was: at, is: next, told: []projection.Condition{valid, stalled("a"), ready("False")}, says: []projection.Condition{valid, stalled("b")}, want: at, paced: true},
		"Ready":     {reason: "So does readiness.", was: at, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid}, ready: true, want: at, paced: true},
		"Unready":   {reason: "In either direction.", was: at, is: next, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid}, want: at, paced: true},
		"ReadyNone": {reason: "Crossplane did not tell of readiness yet.", was: at, is: next, told: []projection.Condition{valid}, says: []projection.Condition{valid}, ready: true, want: next},
		"Same":      {reason: "A status that says the same is not kept back, whoever holds it.", was: at, is: &at, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid}, want: &at},
		"AnyStatus": {reason: "It does not matter whose status it is.", was: cluster, is: struct{ At *status }{&next}, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid}, want: cluster, paced: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reply{status: tc.is, conditions: tc.says, ready: tc.ready}
			if err := pace(tc.told, tc.was, r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tc.want, tc.paced}, []any{r.status, r.paced}); diff != "" {
				t.Errorf("%s\npace(...): status: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.says, r.conditions); diff != "" {
				t.Errorf("%s\npace(...): conditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
