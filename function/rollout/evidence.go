// Package rollout decides what is ordered: which revision, step and attempt, from what is asked for and what is observed. It is pure, and
// keeps no memory: with the same request and the same observed objects it orders the same thing.
package rollout

import (
	"fmt"
	"strings"
	"unicode"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A managed resource has conditions and a generation that they speak of.
type managed interface {
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
	GetGeneration() int64
	GetName() string
}

// Delivered is true when a delivery proves that it carried an order out: it is Ready and Synced, its Ready speaks of its
// present generation, and it echoes this very order. Anything that speaks of another order is no evidence. Whether the verdict is
// known there is another question.
func Delivered(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return says(d, corev1.ConditionTrue) && Alike(d.Spec.ForProvider.Order, o) && Echoes(d, o)
}

// Live is true when a SiteSync proves that the Sites of an order's step run the trees that it names.
func Live(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) bool {
	return says(s, corev1.ConditionTrue) && Speaks(s, o)
}

// Echoes is true when a delivery carried an order out, whatever the directories hold now.
func Echoes(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return d.Status.AtProvider.Order != nil && Alike(*d.Status.AtProvider.Order, o)
}

// Speaks is true when what a SiteSync shows is about an order.
func Speaks(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) bool {
	return Alike(s.Spec.ForProvider.Order, o) && s.Status.AtProvider.Order != nil && Alike(*s.Status.AtProvider.Order, o)
}

// Recorded is true when the repository's state holds an order with its verdict, whatever the directories hold now.
func Recorded(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) bool {
	return d.Status.AtProvider.Order != nil && Same(*d.Status.AtProvider.Order, o)
}

// Refused is the rejection that follows from what a delivery says of an order, or nil.
func Refused(d *deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) *rolloutv1alpha1.Verdict {
	if !says(d, corev1.ConditionFalse) || !Alike(d.Spec.ForProvider.Order, o) {
		return nil
	}
	switch d.GetCondition(xpv2.TypeReady).Reason {
	case deliveryv1alpha1.ReasonDeliveryTimedOut:
		return rejected(rolloutv1alpha1.RejectedDeliveryTimedOut, "GitDelivery", d)
	case deliveryv1alpha1.ReasonPolicyDenied, deliveryv1alpha1.ReasonNotOwner, deliveryv1alpha1.ReasonOwnedElsewhere, deliveryv1alpha1.ReasonTooLarge,
		deliveryv1alpha1.ReasonTreeGone:
		return rejected(rolloutv1alpha1.RejectedDeliveryRefused, "GitDelivery", d)
	}
	return nil
}

// NotSynced is the rejection that follows from what a SiteSync says of an order, or nil.
func NotSynced(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) *rolloutv1alpha1.Verdict {
	if !says(s, corev1.ConditionFalse) || !Speaks(s, o) {
		return nil
	}
	switch s.GetCondition(xpv2.TypeReady).Reason {
	case deliveryv1alpha1.ReasonTimedOut:
		return rejected(rolloutv1alpha1.RejectedSyncTimedOut, "SiteSync", s)
	case deliveryv1alpha1.ReasonFailed:
		return rejected(rolloutv1alpha1.RejectedSyncFailed, "SiteSync", s)
	}
	return nil
}

// maxMessage is how long the message of a verdict may be.
const maxMessage = 1024

func rejected(reason, kind string, m managed) *rolloutv1alpha1.Verdict {
	c := m.GetCondition(xpv2.TypeReady)
	return rejection(reason, fmt.Sprintf("%s %s: %s: %s", kind, m.GetName(), c.Reason, c.Message))
}

func rejection(reason, said string) *rolloutv1alpha1.Verdict {
	message := []rune(strings.Map(printable, said))
	return &rolloutv1alpha1.Verdict{
		Result: rolloutv1alpha1.VerdictRejected, Reason: reason, Message: string(message[:min(len(message), maxMessage)]),
	}
}

// printable turns what would break a line into a blank.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// says is true when the present Ready of a managed resource has a status. One that is not Ready need not be Synced: that is what
// trouble looks like.
func says(m managed, status corev1.ConditionStatus) bool {
	ready := m.GetCondition(xpv2.TypeReady)
	synced := m.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue
	return ready.Status == status && ready.ObservedGeneration == m.GetGeneration() && (synced || status == corev1.ConditionFalse)
}

// Alike is true for two orders that ask for the same, whatever they came to.
func Alike(a, b rolloutv1alpha1.Order) bool { return Same(a.Unjudged(), b.Unjudged()) }

// Same is true for two orders that say the same.
func Same(a, b rolloutv1alpha1.Order) bool { return a.Same(b) }
