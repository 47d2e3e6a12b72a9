// Package rollout decides what is ordered: which revision, step and attempt, from what is asked for and what is observed. It is pure, and
// keeps no memory: with the same request and the same observed objects it orders the same thing.
package rollout

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Delivered is true when a delivery proves that it carried an order out: it is Ready and Synced, its Ready speaks of its
// present generation, and it echoes this very order. Anything that speaks of another order is no evidence.
func Delivered(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	ready := d.Status.GetCondition(xpv2.TypeReady)
	return ready.Status == corev1.ConditionTrue &&
		ready.ObservedGeneration == d.GetGeneration() &&
		d.Status.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue &&
		Same(d.Spec.ForProvider.Order, o) &&
		d.Status.AtProvider.Order != nil &&
		Same(*d.Status.AtProvider.Order, o)
}

// Recorded is true when the repository's state holds an order, whatever the directories hold now.
func Recorded(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return d.Status.AtProvider.Order != nil && Same(*d.Status.AtProvider.Order, o)
}

// Same is true for two orders that say the same.
func Same(a, b rolloutv1alpha1.Order) bool { return a.Same(b) }
