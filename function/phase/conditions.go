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

func validCondition(f *Input) Condition {
	switch p := f.Problem; {
	case p == nil:
		return projection.Is(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, "")
	case p.Terminal:
		return projection.Is(v1alpha1.TypeValid, false, p.Reason, p.Message)
	}
	return projection.Unknown(v1alpha1.TypeValid, v1alpha1.ReasonUnknown, "Some of the objects that the spec names do not exist yet.")
}

// maxNamed is the greatest number of fields in a message. With many Sites there can be thousands.
const maxNamed = 20

func supportedCondition(f *Input) Condition {
	if len(f.Unsupported) == 0 {
		return projection.Is(v1alpha1.TypeSupported, true, v1alpha1.ReasonSupported, "")
	}
	named := f.Unsupported[:min(len(f.Unsupported), maxNamed)]
	message := "Set, and without effect in this version: " + strings.Join(named, ", ")
	if len(named) < len(f.Unsupported) {
		message += ", and more"
	}
	return projection.Is(v1alpha1.TypeSupported, false, v1alpha1.ReasonNotYetSupported, message)
}

func sitesFoundCondition(f *Input) Condition {
	switch p := f.Problem; {
	case p == nil:
		return projection.Is(v1alpha1.TypeSitesFound, true, v1alpha1.ReasonFound, "")
	case p.Terminal:
		return projection.Unknown(v1alpha1.TypeSitesFound, v1alpha1.ReasonUnknown, "The spec is not valid.")
	}
	return projection.Is(v1alpha1.TypeSitesFound, false, f.Problem.Reason, f.Problem.Message)
}

func deliveredCondition(f *Input) Condition {
	reason, message := obstacleReason(f)
	isDelivered := reason == v1alpha1.ReasonProviderNotResponding && f.IsApplied()
	switch {
	case f.State.Current == nil:
		return projection.Is(v1alpha1.TypeDelivered, false, v1alpha1.ReasonNothingOrdered, "")
	case f.State.IsRejected():
		return projection.Is(v1alpha1.TypeDelivered, false, f.State.Verdict.Reason, f.State.Verdict.Message)
	case reason != "" && !isDelivered:
		return projection.Is(v1alpha1.TypeDelivered, false, reason, message)
	case f.IsApplied() && f.State.IsAtLastStep():
		return deliveredWithDrift(f)
	case f.State.Current.HasSteps() && !f.State.IsVerified():
		message = "The revision goes through its steps, of which status.canary says the present one."
	default:
		message = strings.TrimSpace(f.stepMessage())
	}
	return projection.Is(v1alpha1.TypeDelivered, false, v1alpha1.ReasonDelivering, message)
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
			return projection.Is(v1alpha1.TypeDelivered, true, reason, projection.Sentences(messages...))
		}
	}
	return projection.Is(v1alpha1.TypeDelivered, true, v1alpha1.ReasonDelivered, "")
}

// validatedCondition says how the revision was judged. While a problem is in the way of the current spec, a good word says which revision it is about.
func validatedCondition(f *Input) Condition {
	c := revisionValidatedCondition(f)
	if c.Status == corev1.ConditionTrue && f.Problem != nil {
		c.Message = projection.Sentences(fmt.Sprintf("This is about revision %d, which was ordered before %s.", f.State.Current.Number, f.Problem.Reason), c.Message)
	}
	return c
}

// revisionValidatedCondition says how the revision was judged. Only good news waits for the record.
func revisionValidatedCondition(f *Input) Condition {
	wait, message := f.gateWaitReason()
	unknown := func(reason, message string) Condition {
		return projection.Unknown(v1alpha1.TypeValidated, reason, message)
	}
	switch {
	case f.State.Current == nil:
		return projection.Is(v1alpha1.TypeValidated, false, v1alpha1.ReasonNothingOrdered, "")
	case f.State.IsRejected():
		return projection.Is(v1alpha1.TypeValidated, false, f.State.Verdict.Reason, f.State.Verdict.Message)
	case !f.IsApplied() && !f.isAmongSteps():
		return unknown(v1alpha1.ReasonDelivering, "")
	case wait != "":
		return unknown(wait, message)
	case f.isAmongSteps():
		return unknown(v1alpha1.ReasonDelivering, "")
	case !f.HasSucceeded() && f.State.IsGated():
		return unknown(v1alpha1.ReasonMeasuring, "")
	case !f.HasSucceeded():
		return unknown(v1alpha1.ReasonSyncing, "")
	case f.State.IsGated() && f.State.IsGateReleased():
		return projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonPassed, "The Gate came to no conclusion, and a user released it.")
	case f.State.IsGated():
		return projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonPassed, "")
	case f.GatesDisabled:
		return projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonGatesOff, "Nothing is measured: spec.gatesConfig.enabled is false.")
	}
	return projection.Is(v1alpha1.TypeValidated, true, v1alpha1.ReasonNoGates, "Nothing is measured: spec.gatesConfig has no thresholds and no checks.")
}

// recordedCondition says whether the ledger has recorded the verdict of the revision and, for a rollback, its end.
func recordedCondition(f *Input) Condition {
	switch {
	case f.State.Verdict != nil && f.IsRecorded() && !f.isRollingBack():
		return projection.Is(v1alpha1.TypeRecorded, true, v1alpha1.ReasonRecorded, "")
	case f.LedgerUnreachable != "":
		return projection.Is(v1alpha1.TypeRecorded, false, v1alpha1.ReasonLedgerUnreachable, f.LedgerUnreachable+" Nothing is ordered, judged or rolled back before that.")
	case f.State.Current == nil:
		return projection.Is(v1alpha1.TypeRecorded, false, v1alpha1.ReasonNothingOrdered, "")
	}
	return projection.Is(v1alpha1.TypeRecorded, false, v1alpha1.ReasonNotRecorded, "")
}

func availableCondition(f *Input) Condition {
	switch live := f.liveRevision(); {
	case f.State.Current == nil:
		return projection.Is(v1alpha1.TypeAvailable, false, v1alpha1.ReasonNothingOrdered, "")
	case f.State.IsRejected() && (live == 0 || f.isRollingBack()):
		return projection.Is(v1alpha1.TypeAvailable, false, v1alpha1.ReasonDeploymentFailed, f.State.Verdict.Message)
	case f.State.IsRejected() && f.State.Restored:
		return projection.Is(v1alpha1.TypeAvailable, true, v1alpha1.ReasonRolledBack, restoredMessage(f))
	case live > 0 && live < f.State.Current.Number:
		return projection.Is(v1alpha1.TypeAvailable, true, v1alpha1.ReasonEarlierRevision, "")
	case live > 0 && f.Sync == nil:
		return projection.Is(v1alpha1.TypeAvailable, true, v1alpha1.ReasonSyncNotObserved, "The revision is delivered to every Site, and no engine reports their running trees.")
	case live > 0:
		return projection.Is(v1alpha1.TypeAvailable, true, v1alpha1.ReasonLive, degradedMessage(f))
	case f.IsApplied():
		return projection.Is(v1alpha1.TypeAvailable, false, v1alpha1.ReasonNotLive, "")
	}
	return projection.Is(v1alpha1.TypeAvailable, false, v1alpha1.ReasonDelivering, "")
}

// rolledBackCondition says whether a rejected revision was rolled back, or why not.
func rolledBackCondition(f *Input) Condition {
	switch p := f.rejectedPhase(); {
	case p == "":
		return projection.Is(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonNotRolledBack, "")
	case p == v1alpha1.PhaseSucceeded:
		return projection.Is(v1alpha1.TypeRolledBack, true, v1alpha1.ReasonRolledBack, restoredMessage(f))
	case p == v1alpha1.PhaseRollingBack:
		return projection.Is(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonRollingBack, "")
	case f.Holds.Progress == step.HoldNone:
		return projection.Is(v1alpha1.TypeRolledBack, false, v1alpha1.ReasonNotRecorded, "")
	}
	return f.holdCondition(f.Holds.Progress)
}

// stalledCondition says that nothing goes on until a user acts.
func stalledCondition(f *Input) Condition {
	switch c := standingCondition(f); {
	case c.Type == v1alpha1.TypeStalled:
		return c
	case f.Problem == nil && f.isRequestedRollback():
		return projection.Is(v1alpha1.TypeStalled, false, v1alpha1.ReasonIdle, "")
	}
	return projection.Is(v1alpha1.TypeStalled, false, v1alpha1.ReasonProgressing, "")
}

// reconcilingCondition says that work goes on, or that something is waited for.
func reconcilingCondition(f *Input) Condition {
	if c := standingCondition(f); c.Type == v1alpha1.TypeReconciling {
		return c
	}
	return projection.Is(v1alpha1.TypeReconciling, false, v1alpha1.ReasonIdle, "")
}

// standingCondition returns a true Stalled if a user has to act, and else Reconciling, which is true while work goes on. So these are never both true.
func standingCondition(f *Input) Condition {
	stalled := func(reason, message string) Condition {
		return projection.Is(v1alpha1.TypeStalled, true, reason, message)
	}
	working := func(reason, message string) Condition {
		return projection.Is(v1alpha1.TypeReconciling, true, reason, message)
	}
	blocked, ready := f.Blocked()
	switch p, progress := f.rejectedPhase(), f.Holds.Progress; {
	case f.Problem != nil && f.Problem.Terminal && !f.Problem.Retried:
		return stalled(f.Problem.Reason, f.Problem.Message)
	case f.Problem != nil:
		return working(f.Problem.Reason, f.Problem.Message)
	case f.IsLedgerOverdue:
		return stalled(v1alpha1.ReasonLedgerUnreachable, f.LedgerUnreachable)
	case f.HasRolledBack() && !f.isRequestedRollback():
		return stalled(v1alpha1.ReasonRolledBack, projection.Sentences(rejectedMessage(f), continuationMessage(f)))
	case p == v1alpha1.PhaseFailed && progress == step.HoldIrreversible:
		return stalled(v1alpha1.ReasonIrreversible, projection.Sentences(stoppedMessage(f), heldBackMessage(f)))
	case p == v1alpha1.PhaseFailed && progress != step.HoldNotRecorded:
		return stalled(f.State.Verdict.Reason, projection.Sentences(f.State.Verdict.Message, f.holdMessage(progress)))
	case p == "" && blocked != nil && isTerminalReason(ready.Reason):
		return stalled(obstacleReason(f))
	case !f.HasSucceeded() && !f.State.Restored && f.IsApplied() && len(f.UnprovenSites()) > 0:
		return stalled(v1alpha1.ReasonSyncNotObserved, f.unprovenMessage())
	case f.isHeldByMetrics():
		return stalled(f.gateWaitReason())
	case f.HoldBack() != step.HoldNone:
		return f.holdCondition(f.HoldBack())
	case len(f.Unobserving) > 0:
		return working(v1alpha1.ReasonProviderNotResponding, f.notRespondingMessage())
	case p == v1alpha1.PhaseFailed:
		return working(v1alpha1.ReasonNotRecorded, f.holdMessage(progress))
	case p == v1alpha1.PhaseRollingBack:
		return working(v1alpha1.ReasonRollingBack, "")
	}
	return settledStanding(f)
}

// settledStanding returns condition Reconciling of a revision that nothing stands in the way of.
func settledStanding(f *Input) Condition {
	switch hold := trackHold(f); {
	case f.isRequestedRollback():
		return projection.Is(v1alpha1.TypeReconciling, false, v1alpha1.ReasonRolledBack, continuationMessage(f))
	case f.SucceedsNow():
		return projection.Is(v1alpha1.TypeReconciling, false, v1alpha1.ReasonIdle, "")
	case f.HasSucceeded():
		return projection.Is(v1alpha1.TypeReconciling, true, v1alpha1.ReasonDrifted, deliveringMessage(f))
	case hold != step.HoldNone:
		return f.holdCondition(hold)
	}
	return projection.Is(v1alpha1.TypeReconciling, true, v1alpha1.ReasonProgressing, "")
}
