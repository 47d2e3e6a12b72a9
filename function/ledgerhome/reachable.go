package ledgerhome

import (
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// UnreachableMessage returns the reason why a home, named by its configuration, does not report the ledger to its delivery, which is nil if it was not observed.
func UnreachableMessage(d *deliveryv1alpha1.GitDelivery, home string) string {
	if d == nil {
		return fmt.Sprintf("The ledger is in the repository of %s, which was not read yet.", describeConfig(home))
	}
	ready := d.GetCondition(xpv2.TypeReady)
	if ready.Reason == "" || ready.Reason == deliveryv1alpha1.ReasonPushing {
		return ""
	}
	return fmt.Sprintf("The ledger is in the repository of %s, which cannot be read or written: %s: %s", describeConfig(home), ready.Reason, ready.Message)
}

// IsOverdue is true for a delivery that was to record events, and did not within the time that a delivery may take.
func IsOverdue(d *deliveryv1alpha1.GitDelivery) bool {
	return d != nil && len(PendingEvents(d)) > 0 && d.GetCondition(xpv2.TypeReady).Reason == deliveryv1alpha1.ReasonDeliveryTimedOut
}

// IsDisconnected is true for a delivery whose repository does not answer the provider, or does not let it in.
func IsDisconnected(d *deliveryv1alpha1.GitDelivery) bool {
	return d != nil && slices.Contains([]xpv2.ConditionReason{
		deliveryv1alpha1.ReasonUnreachable, deliveryv1alpha1.ReasonAuthFailed, deliveryv1alpha1.ReasonTrustFailed,
		deliveryv1alpha1.ReasonCredentialsGone, deliveryv1alpha1.ReasonMemoryUnknown,
	}, d.GetCondition(xpv2.TypeReady).Reason)
}
