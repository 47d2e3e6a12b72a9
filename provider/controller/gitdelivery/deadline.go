package gitdelivery

import (
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// defaultTimeout is what the schema says.
const defaultTimeout = 10 * time.Minute

// isAttemptAt is true for an attempt to bring a repository to a position.
func isAttemptAt(a rolloutv1alpha1.Attempt, p ledger.Position) bool {
	return a.Revision == p.Revision && a.Step == p.Step && a.Number == p.Attempt
}

// noteWaiting notes since when a delivery waits for its position to be reached. It needs no write of its own: it goes along with the reason.
func noteWaiting(d *v1alpha1.GitDelivery, now time.Time) {
	at, p := &d.Status.AtProvider, askedPosition(d)
	if isApplied(d) {
		at.Waiting = nil
		return
	}
	if at.Waiting == nil || !isAttemptAt(*at.Waiting, p) {
		at.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt, StartedAt: timestampOf(now)}
	}
}

// deliveryDeadline is when a delivery has taken too long. Zero if nothing is waited for.
func deliveryDeadline(d *v1alpha1.GitDelivery) time.Time {
	w := d.Status.AtProvider.Waiting
	if w == nil || meta.WasDeleted(d) || !isAttemptAt(*w, askedPosition(d)) {
		return time.Time{}
	}
	return w.StartedAt.Add(timeoutOf(d))
}

// timeoutOf returns the timeout of a delivery. The API server has checked its form.
func timeoutOf(d *v1alpha1.GitDelivery) time.Duration {
	out, err := time.ParseDuration(d.Spec.ForProvider.DeliveryTimeout)
	if err != nil {
		return defaultTimeout
	}
	return out
}

// withTimeout returns DeliveryTimedOut, with the reason in its message, for a delivery that takes too long. A refusal is an answer already, an
// order that is behind waits for a newer one, and a Site that is missing is waited for.
func withTimeout(d *v1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason, message string) (xpv2.ConditionReason, string) {
	end := deliveryDeadline(d)
	if end.IsZero() || now.Before(end) || slices.Contains(reasonsWithoutTimeout(d), reason) {
		return reason, message
	}
	if message == "" {
		return v1alpha1.ReasonDeliveryTimedOut, string(reason)
	}
	return v1alpha1.ReasonDeliveryTimedOut, fmt.Sprintf("%s: %s", reason, message)
}

// reasonsWithoutTimeout are the reasons that never become a timeout. Another claim's objects are waited for, but for an attempt to roll back: that has to
// come to an end.
func reasonsWithoutTimeout(d *v1alpha1.GitDelivery) []xpv2.ConditionReason {
	out := []xpv2.ConditionReason{
		v1alpha1.ReasonPolicyDenied, v1alpha1.ReasonNotOwner, v1alpha1.ReasonOwnedElsewhere, v1alpha1.ReasonTooLarge,
		v1alpha1.ReasonOrderBehind, v1alpha1.ReasonIllegal, v1alpha1.ReasonStateNewer, v1alpha1.ReasonSiteMissing,
	}
	if askedPosition(d).Attempt == 0 {
		out = append(out, v1alpha1.ReasonObjectConflict)
	}
	return out
}

// untilDeadline returns the shorter one of an interval and the time until the deadline of a delivery.
func untilDeadline(d *v1alpha1.GitDelivery, now time.Time, every time.Duration) time.Duration {
	end := deliveryDeadline(d)
	if end.IsZero() || !now.Before(end) {
		return every
	}
	return min(every, end.Sub(now)+time.Second)
}
