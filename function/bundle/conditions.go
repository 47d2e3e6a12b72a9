package bundle

import (
	"cmp"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// projectConditions returns all conditions that follow from facts. All types are always returned: Crossplane does not remove a condition that the
// function stops returning.
func projectConditions(f *Facts) []projection.Condition {
	return []projection.Condition{validCondition(f), deployedCondition(f), recordedCondition(f), stalledCondition(f), reconcilingCondition(f)}
}

func validCondition(f *Facts) projection.Condition {
	if f.Problem != "" {
		return projection.Is(v1alpha1.TypeValid, false, v1alpha1.ReasonInvalidSpec, f.Problem)
	}
	return projection.Is(v1alpha1.TypeValid, true, v1alpha1.ReasonValid, "")
}

func deployedCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeDeployed
	row := f.firstMatchingRow()
	switch row.Phase {
	case v1alpha1.PhaseSucceeded:
		return projection.Is(conditionType, true, v1alpha1.ReasonDeployed, "")
	case v1alpha1.PhaseDegraded:
		return projection.Is(conditionType, true, v1alpha1.ReasonDegraded, row.message(f))
	case v1alpha1.PhasePending:
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, row.message(f))
	case v1alpha1.PhaseFailed:
		return projection.Is(conditionType, false, f.failureReason(), row.message(f))
	case v1alpha1.PhaseDeploying:
	}
	if f.IsSuspended {
		return projection.Is(conditionType, false, v1alpha1.ReasonHeldBack, row.message(f))
	}
	return projection.Is(conditionType, false, v1alpha1.ReasonDeploying, row.message(f))
}

// failureReason returns the reason of a Bundle that failed: that of its spec, or of its first package that did.
func (f *Facts) failureReason() string {
	if f.Problem != "" {
		return v1alpha1.ReasonInvalidSpec
	}
	return cmp.Or(f.failedPackage().Reason, v1alpha1.ReasonNotObserved)
}

func recordedCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeRecorded
	switch r := f.Observed.Record; {
	case r.Problem != "":
		return projection.Is(conditionType, false, v1alpha1.ReasonNotRecorded, r.Problem)
	case r.Secret == "", !f.isAboutCurrentSpec():
		return projection.Unknown(conditionType, v1alpha1.ReasonNotObserved, "")
	}
	return projection.Is(conditionType, true, v1alpha1.ReasonRecorded, "")
}

// stalledCondition is true when the Bundle makes no progress until a user acts.
func stalledCondition(f *Facts) projection.Condition {
	row := f.firstMatchingRow()
	if row.Phase == v1alpha1.PhaseFailed {
		return projection.Is(v1alpha1.TypeStalled, true, f.failureReason(), row.message(f))
	}
	return projection.Is(v1alpha1.TypeStalled, false, v1alpha1.ReasonProgressing, "")
}

// reconcilingCondition is true while something is worked on or waited for. It is never true beside Stalled.
func reconcilingCondition(f *Facts) projection.Condition {
	const conditionType = v1alpha1.TypeReconciling
	row := f.firstMatchingRow()
	switch {
	case row.Phase == v1alpha1.PhaseFailed, row.Phase == v1alpha1.PhaseSucceeded:
		return projection.Is(conditionType, false, v1alpha1.ReasonIdle, "")
	case f.IsSuspended:
		return projection.Is(conditionType, false, v1alpha1.ReasonHeldBack, row.message(f))
	case row.Phase == v1alpha1.PhaseDeploying:
		return projection.Is(conditionType, true, v1alpha1.ReasonDeploying, row.message(f))
	}
	return projection.Is(conditionType, true, v1alpha1.ReasonProgressing, row.message(f))
}

// isBundleReady reports whether each package runs its current spec.
func isBundleReady(f *Facts) bool {
	return f.firstMatchingRow().Phase == v1alpha1.PhaseSucceeded
}
