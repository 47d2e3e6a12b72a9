package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// AnnotationSuperseded is on a GitDelivery whose repository the deployment left, until the deployment's revision is proven in the
// repositories that take its place. Its value is "true". The composite would not compose such a GitDelivery again, so a deletion by a user
// waits until the composite deletes it.
const AnnotationSuperseded = "delivery.intentplane.dev/superseded"

// AnnotationForgetBranches lists former branches, with commas between them, whose directories a user removed by hand: the provider drops them from
// the status of the GitDelivery. The provider does not remove the annotation, and ignores the current branch in it.
const AnnotationForgetBranches = "delivery.intentplane.dev/forget-branches"

// TypeStateUnique reports whether exactly one ref of the repository holds the state of the control plane. A GitDelivery has the condition once two
// refs held a state.
const TypeStateUnique xpv2.ConditionType = "StateUnique"

// ReasonStateOnce is a reason of condition StateUnique: one ref alone holds the state again.
const ReasonStateOnce xpv2.ConditionReason = "StateOnce"

// Reasons of a GitDelivery's Ready condition. Terminal means that the reason stays until the spec, the configuration or the repository changes; the
// provider retries after all other reasons.
const (
	// ReasonDelivered means that the repository holds the desired trees of the revision.
	ReasonDelivered xpv2.ConditionReason = "Delivered"

	// ReasonRestoringDrift means that another commit changed the claim's directories, and that the provider is restoring them. Ready is True with this
	// reason: the revision was delivered before, and is being delivered again.
	ReasonRestoringDrift xpv2.ConditionReason = "RestoringDrift"

	// ReasonDriftRestored means that the repository holds the desired trees of the revision, and that the provider's last commit restored
	// them after another commit had changed them. It stays until the desired trees change.
	ReasonDriftRestored xpv2.ConditionReason = "DriftRestored"

	// ReasonPushing means that an attempt of a push has begun.
	ReasonPushing xpv2.ConditionReason = "Pushing"

	// ReasonConflict means that another client pushed at the same time.
	ReasonConflict xpv2.ConditionReason = "Conflict"

	// ReasonPolicyDenied means that a limit of the Site, the configuration or the server forbids the delivery. Terminal.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonAuthFailed means that the server does not accept the credentials.
	ReasonAuthFailed xpv2.ConditionReason = "AuthFailed"

	// ReasonTrustFailed means that the server's certificate is not trusted.
	ReasonTrustFailed xpv2.ConditionReason = "TrustFailed"

	// ReasonUnreachable means that the server or the repository cannot be reached.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"

	// ReasonOrderBehind means that the repository has recorded a newer position than the position of the spec. Terminal.
	ReasonOrderBehind xpv2.ConditionReason = "OrderBehind"

	// ReasonIllegal means that an event must not be recorded on top of the ledger: a second verdict on a revision, for example. Terminal.
	ReasonIllegal xpv2.ConditionReason = "Illegal"

	// ReasonStateNewer means that a newer version of the provider wrote the state of the claim, in a way that this version must not change.
	// Terminal.
	ReasonStateNewer xpv2.ConditionReason = "StateNewer"

	// ReasonMemoryUnknown means that neither a status nor a repository holds a record of earlier deliveries.
	ReasonMemoryUnknown xpv2.ConditionReason = "MemoryUnknown"

	// ReasonStateRefused means that the repository accepts no form of the state. Terminal.
	ReasonStateRefused xpv2.ConditionReason = "StateRefused"

	// ReasonStateUntrusted means that no trusted key signed the state in the repository. Terminal.
	ReasonStateUntrusted xpv2.ConditionReason = "StateUntrusted"

	// ReasonBranchLeft is a reason of events: the configuration names another branch, and the former branch keeps directories of the claim.
	ReasonBranchLeft xpv2.ConditionReason = "BranchLeft"

	// ReasonStateTwice is a reason of condition StateUnique and of an event: two refs of the repository hold a state of the control plane, and the older
	// state does not count.
	ReasonStateTwice xpv2.ConditionReason = "StateTwice"

	// ReasonNotOwner means that the directory belongs to another claim, or has files that the provider did not write. Terminal.
	ReasonNotOwner xpv2.ConditionReason = "NotOwner"

	// ReasonObjectConflict means that another claim delivers one of the objects to the same Site. The conflict ends when that claim, or its object, is
	// deleted.
	ReasonObjectConflict xpv2.ConditionReason = "ObjectConflict"

	// ReasonOwnedElsewhere means that the directory belongs to another control plane. Terminal.
	ReasonOwnedElsewhere xpv2.ConditionReason = "OwnedElsewhere"

	// ReasonDiverged means that the branch's history was rewritten. Terminal.
	ReasonDiverged xpv2.ConditionReason = "Diverged"

	// ReasonTreeGone means that the repository no longer has a tree to restore. Terminal.
	ReasonTreeGone xpv2.ConditionReason = "TreeGone"

	// ReasonDrifted means that an unmanaged commit changed the claim's directory.
	ReasonDrifted xpv2.ConditionReason = "Drifted"

	// ReasonTooLarge means that the trees exceed a limit of the server or of the state. Terminal.
	ReasonTooLarge xpv2.ConditionReason = "TooLarge"

	// ReasonCredentialsGone means that the configuration or its Secret is missing.
	ReasonCredentialsGone xpv2.ConditionReason = "CredentialsGone"

	// ReasonSiteMissing means that a Site of the revision does not exist, or may not be used from the namespace.
	ReasonSiteMissing xpv2.ConditionReason = "SiteMissing"

	// ReasonDeliveryTimedOut means that the revision was not delivered within deliveryTimeout. The provider continues to retry.
	ReasonDeliveryTimedOut xpv2.ConditionReason = "DeliveryTimedOut"

	// ReasonInvalid means that the spec or the configuration is invalid. Terminal.
	ReasonInvalid xpv2.ConditionReason = "Invalid"
)
