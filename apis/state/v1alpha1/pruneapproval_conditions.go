package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Types of the conditions of a PruneApproval.
const (
	// TypeAccepted reports whether the approval is valid.
	TypeAccepted xpv2.ConditionType = "Accepted"
)

// Reasons of the conditions of a PruneApproval.
const (
	// ReasonAccepted means that the provider prunes the plan because of the approval.
	ReasonAccepted xpv2.ConditionReason = "Accepted"

	// ReasonUnknownRequest means that the request does not exist.
	ReasonUnknownRequest xpv2.ConditionReason = "UnknownRequest"

	// ReasonOtherRequest means that the request has another UID: it was recreated.
	ReasonOtherRequest xpv2.ConditionReason = "OtherRequest"

	// ReasonOtherPlan means that the request shows another plan than the approval names.
	ReasonOtherPlan xpv2.ConditionReason = "OtherPlan"

	// ReasonTooLate means that the request has ended, or has an earlier approval.
	ReasonTooLate xpv2.ConditionReason = "TooLate"
)
