package phase

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

// Condition is one condition of a deployment.
type Condition = projection.Condition

// Conditions returns the conditions of a deployment. All types are always there: Crossplane leaves a condition that is not returned any more as it was.
func Conditions(f *Input) []Condition {
	return []Condition{
		validCondition(f), supportedCondition(f), sitesFoundCondition(f), deliveredCondition(f), validatedCondition(f), recordedCondition(f),
		availableCondition(f), rolledBackCondition(f), stalledCondition(f), reconcilingCondition(f),
	}
}

func newCondition(typ string, status bool, reason, message string) Condition {
	return projection.Is(typ, status, reason, message)
}

func newUnknownCondition(typ, reason, message string) Condition {
	return projection.Unknown(typ, reason, message)
}

func validCondition(f *Input) Condition {
	if f.Problem == nil {
		return newCondition(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, "")
	}
	if f.Problem.Terminal {
		return newCondition(v1alpha1.TypeValid, false, f.Problem.Reason, f.Problem.Message)
	}
	return newUnknownCondition(v1alpha1.TypeValid, v1alpha1.ReasonUnknown, "Some of the objects that the spec names do not exist yet.")
}

// maxNamed is the greatest number of fields in a message. With many Sites there can be thousands.
const maxNamed = 20

func supportedCondition(f *Input) Condition {
	if len(f.Unsupported) == 0 {
		return newCondition(v1alpha1.TypeSupported, true, v1alpha1.ReasonSupported, "")
	}
	named := f.Unsupported[:min(len(f.Unsupported), maxNamed)]
	message := "Set, and without effect in this version: " + strings.Join(named, ", ")
	if len(named) < len(f.Unsupported) {
		message += ", and more"
	}
	return newCondition(v1alpha1.TypeSupported, false, v1alpha1.ReasonNotYetSupported, message)
}

func sitesFoundCondition(f *Input) Condition {
	if f.Problem == nil {
		return newCondition(v1alpha1.TypeSitesFound, true, v1alpha1.ReasonFound, "")
	}
	if f.Problem.Terminal {
		return newUnknownCondition(v1alpha1.TypeSitesFound, v1alpha1.ReasonUnknown, "The spec is not valid.")
	}
	return newCondition(v1alpha1.TypeSitesFound, false, f.Problem.Reason, f.Problem.Message)
}

func deliveredCondition(f *Input) Condition {
	if f.State.Current == nil {
		return newCondition(v1alpha1.TypeDelivered, false, v1alpha1.ReasonNothingOrdered, "")
	}
	if f.State.IsRejected() {
		return newCondition(v1alpha1.TypeDelivered, false, f.State.Verdict.Reason, f.State.Verdict.Message)
	}
	if d, _ := f.Blocked(); d != nil {
		return newCondition(v1alpha1.TypeDelivered, false, f.blockedReason(), deliveringMessage(f))
	}
	if len(f.Unobserving) > 0 && !f.IsApplied() {
		return newCondition(v1alpha1.TypeDelivered, false, v1alpha1.ReasonProviderNotResponding, f.notRespondingMessage())
	}
	if f.AwaitsCluster() {
		return newCondition(v1alpha1.TypeDelivered, false, v1alpha1.ReasonWaitingForCluster, deliveringMessage(f))
	}
	if f.IsApplied() && f.State.IsAtLastStep() {
		return deliveredWithDrift(f)
	}
	if f.State.Current.HasSteps() && !f.State.IsVerified() {
		return newCondition(v1alpha1.TypeDelivered, false, v1alpha1.ReasonDelivering, "The revision goes through its steps, of which status.canary says the present one.")
	}
	return newCondition(v1alpha1.TypeDelivered, false, v1alpha1.ReasonDelivering, strings.TrimSpace(f.stepMessage()))
}

// isAmongSteps is true for a revision that shares requests and has not come to its last step. Conditions stay the same from step to step, and status.canary
// changes: each change of a condition is a write of its own.
func (f *Input) isAmongSteps() bool {
	return f.State.Current != nil && f.State.Verdict == nil && f.State.Current.HasSteps() && !f.State.IsAtLastStep()
}

// deliveredWithDrift says that every repository holds all of it, and which repositories the provider restored, or is restoring, after other
// commits changed delivered files. A restore in progress comes first.
func deliveredWithDrift(f *Input) Condition {
	for _, reason := range []string{v1alpha1.ReasonRestoringDrift, v1alpha1.ReasonDriftRestored} {
		var messages []string
		for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
			if c := f.Observed[name].GetCondition(xpv2.TypeReady); string(c.Reason) == reason {
				messages = append(messages, fmt.Sprintf("GitDelivery %s: %s", f.Observed[name].GetName(), c.Message))
			}
		}
		if len(messages) > 0 {
			return newCondition(v1alpha1.TypeDelivered, true, reason, projection.Sentences(messages...))
		}
	}
	return newCondition(v1alpha1.TypeDelivered, true, v1alpha1.ReasonDelivered, "")
}

// validatedCondition says how the revision was judged. While a problem is in the way of the present spec, a good word says which revision it is about.
func validatedCondition(f *Input) Condition {
	c := revisionValidatedCondition(f)
	if c.Status == corev1.ConditionTrue && f.Problem != nil {
		c.Message = projection.Sentences(fmt.Sprintf("This is about revision %d, which was ordered before %s.", f.State.Current.Number, f.Problem.Reason), c.Message)
	}
	return c
}

// revisionValidatedCondition says how the revision was judged.
func revisionValidatedCondition(f *Input) Condition {
	switch {
	case f.State.Current == nil:
		return newCondition(v1alpha1.TypeValidated, false, v1alpha1.ReasonNothingOrdered, "")
	case f.State.IsRejected():
		return newCondition(v1alpha1.TypeValidated, false, f.State.Verdict.Reason, f.State.Verdict.Message)
	case !f.IsApplied() && !f.isAmongSteps():
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonDelivering, "")
	case !f.HasSucceeded() && f.metricsUnavailableMessage() != "":
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonMetricsUnavailable, f.metricsUnavailableMessage())
	case !f.HasSucceeded() && f.noDataMessage() != "":
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonNoData, f.noDataMessage())
	case f.isAmongSteps():
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonDelivering, "")
	case !f.HasSucceeded() && f.State.IsGated(): // Only good news waits for the record.
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonMeasuring, "")
	case !f.HasSucceeded():
		return newUnknownCondition(v1alpha1.TypeValidated, v1alpha1.ReasonSyncing, "")
	case f.State.IsGated():
		return newCondition(v1alpha1.TypeValidated, true, v1alpha1.ReasonPassed, "")
	case f.GatesDisabled:
		return newCondition(v1alpha1.TypeValidated, true, v1alpha1.ReasonGatesOff, "Nothing is measured: spec.gatesConfig.enabled is false.")
	}
	return newCondition(v1alpha1.TypeValidated, true, v1alpha1.ReasonNoGates, "Nothing is measured: spec.gatesConfig has no thresholds and no checks.")
}

// recordedCondition says whether the ledger has recorded the verdict of the revision and, for a rollback, its end.
func recordedCondition(f *Input) Condition {
	switch {
	case f.State.Verdict != nil && f.IsRecorded() && !f.isRollingBack():
		return newCondition(v1alpha1.TypeRecorded, true, v1alpha1.ReasonRecorded, "")
	case f.LedgerUnreachable != "":
		return newCondition(v1alpha1.TypeRecorded, false, v1alpha1.ReasonLedgerUnreachable, f.LedgerUnreachable+" Nothing is ordered, judged or rolled back before that.")
	case f.State.Current == nil:
		return newCondition(v1alpha1.TypeRecorded, false, v1alpha1.ReasonNothingOrdered, "")
	}
	return newCondition(v1alpha1.TypeRecorded, false, v1alpha1.ReasonNotRecorded, "")
}

func availableCondition(f *Input) Condition {
	switch live := f.liveRevision(); {
	case f.State.Current == nil:
		return newCondition(v1alpha1.TypeAvailable, false, v1alpha1.ReasonNothingOrdered, "")
	case f.State.IsRejected() && (live == 0 || f.isRollingBack()):
		return newCondition(v1alpha1.TypeAvailable, false, v1alpha1.ReasonDeploymentFailed, f.State.Verdict.Message)
	case f.State.IsRejected() && f.State.Restored:
		return newCondition(v1alpha1.TypeAvailable, true, v1alpha1.ReasonRolledBack, strings.TrimSpace(restoredMessage(f)))
	case live > 0 && live < f.State.Current.Number:
		return newCondition(v1alpha1.TypeAvailable, true, v1alpha1.ReasonEarlierRevision, "")
	case live > 0 && f.Sync == nil:
		return newCondition(v1alpha1.TypeAvailable, true, v1alpha1.ReasonSyncNotObserved, "The revision is delivered to every Site, and no engine reports their running trees.")
	case live > 0:
		return newCondition(v1alpha1.TypeAvailable, true, v1alpha1.ReasonLive, strings.TrimSpace(degradedMessage(f)))
	case f.IsApplied():
		return newCondition(v1alpha1.TypeAvailable, false, v1alpha1.ReasonNotLive, "")
	}
	return newCondition(v1alpha1.TypeAvailable, false, v1alpha1.ReasonDelivering, "")
}

// isRollingBack is true while a rejected revision is rolled back. Conditions that become true meanwhile are reported when the rollback ends.
func (f *Input) isRollingBack() bool {
	if !f.State.IsRejected() {
		return false
	}
	p, _, _ := rejectedPhaseOf(f)
	return p == v1alpha1.PhaseRollingBack
}

// rolledBackCondition says whether a rejected revision was rolled back, or why not.
func rolledBackCondition(f *Input) Condition {
	if !f.State.IsRejected() {
		return newCondition(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonNotRolledBack, "")
	}
	switch p, _, _ := rejectedPhaseOf(f); {
	case p == v1alpha1.PhaseSucceeded:
		return newCondition(v1alpha1.TypeRolledBack, true, v1alpha1.ReasonRolledBack, strings.TrimSpace(restoredMessage(f)))
	case p == v1alpha1.PhaseRollingBack:
		return newCondition(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonRollingBack, "")
	case f.Stop == step.HoldNone:
		return newCondition(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonNotRecorded, "")
	}
	return newCondition(v1alpha1.TypeRolledBack, false, string(f.Stop), stopMessage(f))
}

// stalledCondition says that nothing goes on until a user acts.
func stalledCondition(f *Input) Condition {
	if f.Problem != nil && f.Problem.Terminal && !f.Problem.Retried {
		return newCondition(v1alpha1.TypeStalled, true, f.Problem.Reason, f.Problem.Message)
	}
	if f.Problem != nil {
		return newCondition(v1alpha1.TypeStalled, false, v1alpha1.ReasonProgressing, "")
	}
	if f.IsLedgerOverdue {
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonLedgerUnreachable, f.LedgerUnreachable)
	}
	if f.State.IsRejected() {
		return rejectedStalledCondition(f)
	}
	if d, c := f.Blocked(); d != nil && isTerminal(c.Reason) {
		return newCondition(v1alpha1.TypeStalled, true, f.blockedReason(), deliveringMessage(f))
	}
	if f.IsApplied() && !f.HasSucceeded() && len(f.UnprovenSites()) > 0 {
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonSyncNotObserved, f.unprovenMessage())
	}
	if f.isHeldByMetrics() && !f.HasSucceeded() {
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonMetricsUnavailable, f.metricsUnavailableMessage())
	}
	return newCondition(v1alpha1.TypeStalled, false, v1alpha1.ReasonProgressing, "")
}

// rejectedStalledCondition says whether a rejected revision is stalled until a user acts. A revision that needs the decision of a user says so.
func rejectedStalledCondition(f *Input) Condition {
	v := f.State.Verdict
	switch p, _, message := rejectedPhaseOf(f); {
	case f.isRequestedRollback():
		return newCondition(v1alpha1.TypeStalled, false, v1alpha1.ReasonIdle, "")
	case p == v1alpha1.PhaseSucceeded:
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonRolledBack, projection.Sentences(rejectedMessage(f), continuationMessage(f)))
	case p == v1alpha1.PhaseRollingBack && f.IsApplied() && len(f.UnprovenSites()) > 0 && !f.State.Restored:
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonSyncNotObserved, f.unprovenMessage())
	case p == v1alpha1.PhaseRollingBack:
		return newCondition(v1alpha1.TypeStalled, false, v1alpha1.ReasonProgressing, "")
	case f.Stop == step.HoldIrreversible:
		return newCondition(v1alpha1.TypeStalled, true, v1alpha1.ReasonIrreversible, message)
	}
	if stopMessage(f) != "" {
		return newCondition(v1alpha1.TypeStalled, true, v.Reason, projection.Sentences(v.Message, stopMessage(f)))
	}
	return newCondition(v1alpha1.TypeStalled, true, v.Reason, v.Message)
}

// reconcilingCondition says that work goes on, or that something is waited for. It is never true beside Stalled.
func reconcilingCondition(f *Input) Condition {
	switch {
	case stalledCondition(f).Status == corev1.ConditionTrue:
		return newCondition(v1alpha1.TypeReconciling, false, v1alpha1.ReasonIdle, "")
	case f.Problem != nil:
		return newCondition(v1alpha1.TypeReconciling, true, f.Problem.Reason, f.Problem.Message)
	case f.Suspended:
		return newCondition(v1alpha1.TypeReconciling, false, v1alpha1.ReasonSuspended, "spec.suspend holds back a newer request.")
	case f.Outranked:
		return newCondition(v1alpha1.TypeReconciling, true, v1alpha1.ReasonProgressing, strings.TrimSpace(heldBackMessage(f)))
	case len(f.Unobserving) > 0:
		return newCondition(v1alpha1.TypeReconciling, true, v1alpha1.ReasonProviderNotResponding, f.notRespondingMessage())
	case f.State.Current != nil && f.isRequestedRollback():
		return newCondition(v1alpha1.TypeReconciling, false, v1alpha1.ReasonRolledBack, continuationMessage(f))
	case f.State.IsRejected():
		return newCondition(v1alpha1.TypeReconciling, true, v1alpha1.ReasonRollingBack, "")
	case f.SucceedsNow():
		return newCondition(v1alpha1.TypeReconciling, false, v1alpha1.ReasonIdle, "")
	case f.HasSucceeded():
		return newCondition(v1alpha1.TypeReconciling, true, v1alpha1.ReasonDrifted, deliveringMessage(f))
	case canaryReason(f) != "":
		return newCondition(v1alpha1.TypeReconciling, true, canaryReason(f), canaryMessage(f))
	}
	return newCondition(v1alpha1.TypeReconciling, true, v1alpha1.ReasonProgressing, "")
}
