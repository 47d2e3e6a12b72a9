package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Reasons of a Gate's Ready condition. Ready is True with Passed alone. Terminal means that the reason stays: a verdict never changes.
const (
	// ReasonPassed means that all checks passed. Terminal.
	ReasonPassed xpv2.ConditionReason = "Passed"

	// ReasonFailed means that a check was violated. Terminal.
	ReasonFailed xpv2.ConditionReason = "Failed"

	// ReasonError means that a check could not be measured. Terminal.
	ReasonError xpv2.ConditionReason = "Error"

	// ReasonTimedOut means that a check did not end in time. Terminal.
	ReasonTimedOut xpv2.ConditionReason = "TimedOut"

	// ReasonInconclusive means that a check came to no conclusion, and that a user decides. Terminal.
	ReasonInconclusive xpv2.ConditionReason = "Inconclusive"

	// ReasonMeasuring means that the checks are in progress.
	ReasonMeasuring xpv2.ConditionReason = "Measuring"

	// ReasonWatching means that all checks have their count, and continue to measure until the step is released.
	ReasonWatching xpv2.ConditionReason = "Watching"

	// ReasonNoData means that a query returns no data, and that its check waits for data: noData of the check is Wait. The timeout of the check pauses.
	ReasonNoData xpv2.ConditionReason = "NoData"

	// ReasonMetricsUnavailable means that the metrics backend of a check does not answer, or that a check of type Availability cannot observe its Site.
	// The check is retried, and its timeout pauses.
	ReasonMetricsUnavailable xpv2.ConditionReason = "MetricsUnavailable"

	// ReasonHeld means that the metrics backend of a check has been unavailable for longer than metricsUnavailableTimeout. The Gate waits for the
	// backend, or for a RolloutRequest that rejects the revision.
	ReasonHeld xpv2.ConditionReason = "Held"

	// ReasonNotLive means that the position is not proven to be live, so that the Gate does not measure.
	ReasonNotLive xpv2.ConditionReason = "NotLive"

	// ReasonPolicyDenied means that the Gate is of another namespace than the claim that it judges, so that the Gate does not measure.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"
)
