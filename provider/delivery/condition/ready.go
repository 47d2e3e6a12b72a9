// Package condition sets the conditions of GitDeliveries, and decides when a delivery has timed out.
package condition

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/remote"
)

// SetReady sets the Ready condition. A delivery stays ready while drift is being restored, because that takes seconds. After the timeout, withTimeout
// replaces most reasons. The condition has the observed generation: without it the condition does not count as evidence.
func SetReady(d *v1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason, message string) {
	noteWaiting(d, now)
	reason, message = withTimeout(d, now, reason, message)
	status := corev1.ConditionFalse
	switch reason {
	case v1alpha1.ReasonDelivered, v1alpha1.ReasonDriftRestored, v1alpha1.ReasonRestoringDrift:
		status = corev1.ConditionTrue
	}
	Set(d, xpv2.TypeReady, status, reason, message)
}

// KeepRestored retains the condition DriftRestored until the generation of the delivery changes.
func KeepRestored(d *v1alpha1.GitDelivery, previous xpv2.Condition) {
	if previous.Status == corev1.ConditionTrue && previous.Reason == v1alpha1.ReasonDriftRestored && previous.ObservedGeneration == d.GetGeneration() {
		d.SetConditions(previous)
	}
}

// KeepReady retains the Ready condition while the delivery of an earlier reconcile is still under way: its result is unknown until it has ended. The
// timeout may expire meanwhile.
func KeepReady(d *v1alpha1.GitDelivery, previous xpv2.Condition, now time.Time) {
	switch {
	case previous.Reason == "", previous.ObservedGeneration != d.GetGeneration():
		SetReady(d, now, v1alpha1.ReasonPushing, "")
	case previous.Reason == v1alpha1.ReasonRestoringDrift, previous.Reason != v1alpha1.ReasonDeliveryTimedOut && previous.Status == corev1.ConditionFalse:
		SetReady(d, now, previous.Reason, previous.Message)
	}
}

// KeepWording retains the previous Ready condition if the new condition differs only in numbers, times and ids in the message of a server.
func KeepWording(d *v1alpha1.GitDelivery, previous xpv2.Condition) {
	now := d.GetCondition(xpv2.TypeReady)
	if previous.Status == now.Status && previous.Reason == now.Reason && oneline.DiffersInSerialsOnly(previous.Message, now.Message) {
		d.SetConditions(previous.WithObservedGeneration(now.ObservedGeneration))
	}
}

// Set sets a condition with the generation of the delivery.
func Set(d *v1alpha1.GitDelivery, conditionType xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) {
	c := xpv2.Condition{Type: conditionType, Status: status, LastTransitionTime: metav1.Now(), Reason: reason, Message: message}
	d.SetConditions(c.WithObservedGeneration(d.GetGeneration()))
}

// ReasonOf returns the reason that an error gives for not being ready.
func ReasonOf(err error) xpv2.ConditionReason {
	if errors.As(err, new(*overlap.IncompleteError)) {
		return v1alpha1.ReasonPushing
	}
	return remote.ReasonOf(err)
}
