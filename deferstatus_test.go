package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/function/projection"
)

func TestDeferStatus(t *testing.T) {
	valid := projection.Condition{Type: "Valid", Status: corev1.ConditionTrue, Reason: "Valid"}
	stalled := func(message string) projection.Condition {
		return projection.Condition{Type: "Stalled", Status: corev1.ConditionFalse, Reason: "Progressing", Message: message}
	}
	ready := func(status corev1.ConditionStatus) projection.Condition {
		return projection.Condition{Type: "Ready", Status: status, Reason: "Whatever"}
	}
	type status struct{ Phase string }
	delivering, next := status{"Delivering"}, status{"Validating"}
	cluster := struct{ At *status }{&delivering}

	for name, tc := range map[string]struct {
		reason string
		told   []projection.Condition
		was    any
		is     any
		says   []projection.Condition
		ready  bool
		passes bool
		want   any
		paced  bool
	}{
		"First": {
			reason: "A composite without conditions gets conditions and status at once.",
			was:    delivering, is: next, says: []projection.Condition{valid}, want: next,
		},
		"Passes": {
			reason: "A transitional status waits for the final status.",
			was:    delivering, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid}, passes: true,
			want: delivering, paced: true,
		},
		"PassesNew": {
			reason: "A composite without conditions gets a status that passes, too.",
			was:    delivering, is: next, says: []projection.Condition{valid}, passes: true, want: next,
		},
		"Settled": {
			reason: "The status is written once the conditions are.",
			was:    delivering, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid}, want: next,
		},
		"Added": {
			reason: "A condition of a new type is written together with the status.",
			was:    delivering, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid, stalled("")},
			want: next,
		},
		"Turned": {
			reason: "Changed conditions are written before the status.",
			was:    delivering, is: next, told: []projection.Condition{valid, stalled("a"), ready("False")},
			says: []projection.Condition{valid, stalled("b")}, want: delivering, paced: true,
		},
		"Ready": {
			reason: "A composite that becomes ready is written before the status.",
			was:    delivering, is: next, told: []projection.Condition{valid, ready("False")}, says: []projection.Condition{valid}, ready: true,
			want: delivering, paced: true,
		},
		"Unready": {
			reason: "A composite that becomes unready is written before the status.",
			was:    delivering, is: next, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid}, want: delivering,
			paced: true,
		},
		"ReadyNone": {
			reason: "A composite without the condition Ready gets everything at once.",
			was:    delivering, is: next, told: []projection.Condition{valid}, says: []projection.Condition{valid}, ready: true, want: next,
		},
		"Same": {
			reason: "A status with equal content is not deferred.",
			was:    delivering, is: &delivering, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid},
			want: &delivering,
		},
		"AnyStatus": {
			reason: "The status of a cluster is deferred as that of a deployment is.",
			was:    cluster, is: struct{ At *status }{&next}, told: []projection.Condition{valid, ready("True")}, says: []projection.Condition{valid},
			want: cluster, paced: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reply{status: tc.is, conditions: tc.says, ready: tc.ready, passing: tc.passes}
			if err := deferStatus(tc.told, tc.was, r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tc.want, tc.paced}, []any{r.status, r.deferred}); diff != "" {
				t.Errorf("%s\ndeferStatus(...): status: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.says, r.conditions); diff != "" {
				t.Errorf("%s\ndeferStatus(...): conditions: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestHoldConditions answers while the home of a ledger records a verdict.
func TestHoldConditions(t *testing.T) {
	previous := projection.Condition{Type: "Delivered", Status: corev1.ConditionFalse, Reason: "Delivering"}
	next := projection.Condition{Type: "Delivered", Status: corev1.ConditionTrue, Reason: "Delivered"}
	ready := func(status corev1.ConditionStatus) projection.Condition {
		return projection.Condition{Type: "Ready", Status: status}
	}
	for name, tc := range map[string]struct {
		reason    string
		observed  []projection.Condition
		want      projection.Condition
		wantReady bool
		deferred  bool
	}{
		"Held": {reason: "Status and conditions stay as they are.", observed: []projection.Condition{ready("False"), previous}, want: previous, deferred: true},
		"Ready": {
			reason:   "A composite that is ready stays ready.",
			observed: []projection.Condition{ready("True"), previous}, want: previous, wantReady: true, deferred: true,
		},
		"First": {reason: "A composite that does not have all conditions gets them.", observed: []projection.Condition{ready("False")}, want: next},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reply{status: "after", conditions: []projection.Condition{next}, recording: true}
			if err := deferStatus(tc.observed, "before", r); err != nil {
				t.Fatal(err)
			}
			status := map[bool]string{true: "before", false: "after"}[tc.deferred]
			if diff := cmp.Diff([]any{status, tc.want, tc.wantReady, tc.deferred}, []any{r.status, r.conditions[0], r.ready, r.deferred}); diff != "" {
				t.Errorf("%s\ndeferStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
