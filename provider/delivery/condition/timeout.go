package condition

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/mandate"
)

// askedPosition returns the position that a delivery requests, or that its ledger reached by the mandate. For a home without a position it returns the
// position of the ledger.
func askedPosition(d *v1alpha1.GitDelivery) ledger.Position {
	return cmp.Or(mandate.Position(d), ptr.Deref(d.Status.AtProvider.Ledger, ledger.State{}).Position())
}

// AwaitsRecording reports whether the requested events are not recorded yet, by the status.
func AwaitsRecording(d *v1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return requested != nil && len(requested.Events) > 0 && requested.After == ptr.Deref(d.Status.AtProvider.Ledger, ledger.State{}).Head
}

// isApplied reports whether the requested events and position are recorded and applied, by the status, and no attempt at the position is in progress.
func isApplied(d *v1alpha1.GitDelivery) bool {
	observed := d.Status.AtProvider
	if AwaitsRecording(d) || observed.Record == nil || observed.Record.Position.Compare(askedPosition(d)) < 0 {
		return false
	}
	return observed.Attempt == nil || observed.Attempt.EndedAt != nil || !IsAttemptAt(*observed.Attempt, askedPosition(d))
}

// defaultTimeout is the default in the schema.
const defaultTimeout = 10 * time.Minute

// IsAttemptAt is true for an attempt to bring a repository to a position.
func IsAttemptAt(a rolloutv1alpha1.Attempt, p ledger.Position) bool {
	return a.Revision == p.Revision && a.Step == p.Step && a.Number == p.Attempt
}

// noteWaiting sets the time since which a delivery waits for its position. It needs no write of its own: the status is written with the reason.
func noteWaiting(d *v1alpha1.GitDelivery, now time.Time) {
	observed, p := &d.Status.AtProvider, askedPosition(d)
	if isApplied(d) {
		observed.Waiting = nil
		return
	}
	if observed.Waiting == nil || !IsAttemptAt(*observed.Waiting, p) {
		observed.Waiting = &rolloutv1alpha1.Attempt{Revision: p.Revision, Step: p.Step, Number: p.Attempt, StartedAt: *instant.Timestamp(now)}
	}
}

// deliveryDeadline returns the time at which a delivery times out. Zero if the delivery does not wait.
func deliveryDeadline(d *v1alpha1.GitDelivery) time.Time {
	w := d.Status.AtProvider.Waiting
	if w == nil || meta.WasDeleted(d) || !IsAttemptAt(*w, askedPosition(d)) {
		return time.Time{}
	}
	return w.StartedAt.Add(deliveryTimeout(d))
}

// deliveryTimeout returns the timeout of a delivery, or of the rollback attempt in progress by its mandate. The API server has checked its form.
func deliveryTimeout(d *v1alpha1.GitDelivery) time.Duration {
	if out := mandate.AttemptTimeout(d); out > 0 {
		return out
	}
	out, err := time.ParseDuration(d.Spec.ForProvider.DeliveryTimeout)
	if err != nil {
		return defaultTimeout
	}
	return out
}

// withTimeout returns DeliveryTimedOut, with the reason in its message, for a delivery that takes too long. A refusal is a result already, a delivery that
// is behind waits for a newer spec, and the wait for a missing Site has no limit.
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

// reasonsWithoutTimeout returns the reasons that never become a timeout. The wait for another claim's objects has no limit, except for a rollback attempt:
// that has to end.
func reasonsWithoutTimeout(d *v1alpha1.GitDelivery) []xpv2.ConditionReason {
	out := []xpv2.ConditionReason{
		v1alpha1.ReasonPolicyDenied, v1alpha1.ReasonNotOwner, v1alpha1.ReasonOwnedElsewhere, v1alpha1.ReasonTooLarge,
		v1alpha1.ReasonOrderBehind, v1alpha1.ReasonIllegal, v1alpha1.ReasonStateNewer, v1alpha1.ReasonSiteMissing,
		v1alpha1.ReasonDelivered, v1alpha1.ReasonDriftRestored,
	}
	if askedPosition(d).Attempt == 0 {
		out = append(out, v1alpha1.ReasonObjectConflict)
	}
	return out
}

// UntilDeadline returns the shorter of an interval and the time until the deadline of a delivery.
func UntilDeadline(d *v1alpha1.GitDelivery, now time.Time, interval time.Duration) time.Duration {
	end := deliveryDeadline(d)
	if end.IsZero() || !now.Before(end) {
		return interval
	}
	return min(interval, end.Sub(now)+time.Second)
}
