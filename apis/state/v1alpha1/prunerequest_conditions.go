package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// Types of the conditions of a PruneRequest.
const (
	// TypePlanned reports whether the request has a plan that can be approved.
	TypePlanned xpv2.ConditionType = "Planned"

	// TypeApproved reports whether a PruneApproval approved the plan.
	TypeApproved xpv2.ConditionType = "Approved"

	// TypeCompleted reports whether all items of the plan are removed.
	TypeCompleted xpv2.ConditionType = "Completed"
)

// Reasons of the conditions of a PruneRequest.
const (
	// ReasonPlanned means that there is a plan that can be approved.
	ReasonPlanned xpv2.ConditionReason = "Planned"

	// ReasonNothingToPrune means that the plan removes nothing.
	ReasonNothingToPrune xpv2.ConditionReason = "NothingToPrune"

	// ReasonAwaitingApproval means that no PruneApproval names the plan yet.
	ReasonAwaitingApproval xpv2.ConditionReason = "AwaitingApproval"

	// ReasonApproved means that a PruneApproval names the plan.
	ReasonApproved xpv2.ConditionReason = "Approved"

	// ReasonPruning means that the commit is queued, or is being pushed, or that packages are being deleted.
	ReasonPruning xpv2.ConditionReason = "Pruning"

	// ReasonPruned means that all items of the plan are removed.
	ReasonPruned xpv2.ConditionReason = "Pruned"

	// ReasonPlanChanged means that the plan was made again for its approval, and has changed. Nothing was removed.
	ReasonPlanChanged xpv2.ConditionReason = "PlanChanged"

	// ReasonExpired means that no approval came within an hour. Nothing was removed.
	ReasonExpired xpv2.ConditionReason = "Expired"

	// ReasonUncertain means that the set of live owners is unknown: a kind cannot be listed, or a delivery into the repository shows signs of a restore.
	ReasonUncertain xpv2.ConditionReason = "Uncertain"

	// ReasonStateUntrusted means that the state of the repository cannot be believed.
	ReasonStateUntrusted xpv2.ConditionReason = "StateUntrusted"

	// ReasonNotInPlan means that spec.only has a name or path that nothing has.
	ReasonNotInPlan xpv2.ConditionReason = "NotInPlan"

	// ReasonMostOfRepository means that more than half of the directories or packages would go.
	ReasonMostOfRepository xpv2.ConditionReason = "MostOfRepository"

	// ReasonTooMany means that more than 500 directories or packages would go.
	ReasonTooMany xpv2.ConditionReason = "TooMany"

	// ReasonInvalid means that the configuration, or something in the repository, is not valid.
	ReasonInvalid xpv2.ConditionReason = "Invalid"

	// ReasonCredentialsGone means that the configuration or its Secret does not exist.
	ReasonCredentialsGone xpv2.ConditionReason = "CredentialsGone"

	// ReasonPolicyDenied means that the configuration may not be used from the namespace, or that the server refuses the commit.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonAuthFailed means that the server refuses the credentials.
	ReasonAuthFailed xpv2.ConditionReason = "AuthFailed"

	// ReasonTrustFailed means that the configuration does not trust the server's identity.
	ReasonTrustFailed xpv2.ConditionReason = "TrustFailed"

	// ReasonStateRefused means that the server refuses the ref of the state.
	ReasonStateRefused xpv2.ConditionReason = "StateRefused"

	// ReasonTooLarge means that the repository has more directories, or larger files, than are read.
	ReasonTooLarge xpv2.ConditionReason = "TooLarge"

	// ReasonConflict means that other writers of the branch won each race.
	ReasonConflict xpv2.ConditionReason = "Conflict"

	// ReasonUnreachable means that the repository or the API server does not answer.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"
)
