package condition

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestKeepReady observes a delivery that is still under way, an hour after the request of its position.
func TestKeepReady(t *testing.T) {
	began := time.Date(2031, 12, 17, 13, 0, 0, 0, time.UTC)
	ready := func(status corev1.ConditionStatus, reason xpv2.ConditionReason) xpv2.Condition {
		return xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, Message: "Words.", ObservedGeneration: 3}
	}
	older := ready(corev1.ConditionTrue, v1alpha1.ReasonDelivered)
	older.ObservedGeneration = 2
	cases := map[string]struct {
		reason  string
		before  xpv2.Condition
		timeout string
		want    []string
	}{
		"First": {reason: "A delivery that says nothing yet is pushed.", timeout: "2h", want: []string{"False", "Pushing", ""}},
		"Spec":  {reason: "A condition of another generation does not count.", before: older, timeout: "2h", want: []string{"False", "Pushing", ""}},
		"Delivered": {
			reason: "A delivery that was found carried out stays so.",
			before: ready(corev1.ConditionTrue, v1alpha1.ReasonDelivered), timeout: "2h", want: []string{"True", "Delivered", "Words."},
		},
		"Failing": {
			reason: "A delivery that fails says why until it takes too long.",
			before: ready(corev1.ConditionFalse, v1alpha1.ReasonUnreachable), timeout: "2h", want: []string{"False", "Unreachable", "Words."},
		},
		"TooLate": {
			reason: "A delivery that fails becomes too late while it is under way.",
			before: ready(corev1.ConditionFalse, v1alpha1.ReasonUnreachable), timeout: "1h",
			want: []string{"False", "DeliveryTimedOut", "Unreachable: Words."},
		},
		"StaysLate": {
			reason: "A delivery that timed out keeps one message.",
			before: ready(corev1.ConditionFalse, v1alpha1.ReasonDeliveryTimedOut), timeout: "1h",
			want: []string{"False", "DeliveryTimedOut", "Words."},
		},
		"Restoring": {
			reason: "A delivery that restores drift becomes too late as others do.",
			before: ready(corev1.ConditionTrue, v1alpha1.ReasonRestoringDrift), timeout: "1h",
			want: []string{"False", "DeliveryTimedOut", "RestoringDrift: Words."},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.SetGeneration(3)
			d.Spec.ForProvider.Position = &ledger.Position{Epoch: 1, Revision: 2}
			d.Spec.ForProvider.DeliveryTimeout = tc.timeout
			d.Status.AtProvider.Waiting = &rolloutv1alpha1.Attempt{Revision: 2, StartedAt: metav1.NewTime(began)}
			d.SetConditions(tc.before)
			KeepReady(d, tc.before, began.Add(time.Hour))
			readyNow := d.GetCondition(xpv2.TypeReady)
			if diff := cmp.Diff(tc.want, []string{string(readyNow.Status), string(readyNow.Reason), readyNow.Message}); diff != "" {
				t.Errorf("\n%s\nKeepReady(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKeepRestored finds a delivery carried out again, whose condition was another one before.
func TestKeepRestored(t *testing.T) {
	conditionWith := func(status corev1.ConditionStatus, reason xpv2.ConditionReason, generation int64) xpv2.Condition {
		return xpv2.Condition{Type: xpv2.TypeReady, Status: status, Reason: reason, Message: "Words.", ObservedGeneration: generation}
	}
	cases := map[string]struct {
		reason string
		before xpv2.Condition
		want   xpv2.ConditionReason
	}{
		"Restored": {
			reason: "A delivery says that drift was restored as long as nothing else is asked for.",
			before: conditionWith(corev1.ConditionTrue, v1alpha1.ReasonDriftRestored, 3), want: v1alpha1.ReasonDriftRestored,
		},
		"Spec": {
			reason: "DriftRestored of another generation is not retained.",
			before: conditionWith(corev1.ConditionTrue, v1alpha1.ReasonDriftRestored, 2), want: v1alpha1.ReasonDelivered,
		},
		"Failed": {
			reason: "A delivery that failed before is carried out now.",
			before: conditionWith(corev1.ConditionFalse, v1alpha1.ReasonUnreachable, 3), want: v1alpha1.ReasonDelivered,
		},
		"Restores": {
			reason: "A delivery that restored drift before has done so now.",
			before: conditionWith(corev1.ConditionTrue, v1alpha1.ReasonRestoringDrift, 3), want: v1alpha1.ReasonDelivered,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := &v1alpha1.GitDelivery{}
			d.SetGeneration(3)
			Set(d, xpv2.TypeReady, corev1.ConditionTrue, v1alpha1.ReasonDelivered, "")
			KeepRestored(d, tc.before)
			if diff := cmp.Diff(tc.want, d.GetCondition(xpv2.TypeReady).Reason); diff != "" {
				t.Errorf("\n%s\nKeepRestored(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
