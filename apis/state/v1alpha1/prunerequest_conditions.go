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
	// ReasonPlanned means that the request has a plan that can be approved.
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

	// ReasonPlanChanged means that the plan, computed again after its approval, has changed. The provider removed no item.
	ReasonPlanChanged xpv2.ConditionReason = "PlanChanged"

	// ReasonExpired means that no PruneApproval named the plan within an hour. The provider removed no item.
	ReasonExpired xpv2.ConditionReason = "Expired"

	// ReasonUncertain means that the set of live owners is unknown: a kind cannot be listed, or a delivery into the repository shows signs of a restore.
	ReasonUncertain xpv2.ConditionReason = "Uncertain"

	// ReasonStateUntrusted means that the state of the repository is not signed by a trusted key, is malformed, or is of another cluster.
	ReasonStateUntrusted xpv2.ConditionReason = "StateUntrusted"

	// ReasonNotInPlan means that spec.only has a name or path that no item of the plan has.
	ReasonNotInPlan xpv2.ConditionReason = "NotInPlan"

	// ReasonMostOfRepository means that the plan would remove more than half of the directories or packages.
	ReasonMostOfRepository xpv2.ConditionReason = "MostOfRepository"

	// ReasonTooMany means that the plan would remove more than 500 directories or packages.
	ReasonTooMany xpv2.ConditionReason = "TooMany"

	// ReasonInvalid means that the configuration, or an object in the repository, is invalid.
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

	// ReasonTooLarge means that the repository has more directories, or larger files, than the limit for reads.
	ReasonTooLarge xpv2.ConditionReason = "TooLarge"

	// ReasonConflict means that other clients pushed to the branch before each attempt.
	ReasonConflict xpv2.ConditionReason = "Conflict"

	// ReasonUnreachable means that the repository or the API server is unreachable.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"
)
