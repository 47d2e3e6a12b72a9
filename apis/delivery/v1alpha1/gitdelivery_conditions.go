package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// AnnotationSuperseded is on a GitDelivery whose repository the deployment left, until the deployment's revision is proven in the
// repositories that take its place. Its value is "true". The composite would not compose such a GitDelivery again, so a deletion by a user
// waits until the composite deletes it.
const AnnotationSuperseded = "delivery.intentplane.dev/superseded"

// AnnotationForgetBranches names the former branches, with commas between them, that a GitDelivery forgets: their directories were removed
// by hand. Nothing removes the annotation; it does nothing about the branch that is delivered to.
const AnnotationForgetBranches = "delivery.intentplane.dev/forget-branches"

// TypeStateUnique says whether one ref of the repository alone holds the state of the control plane. A GitDelivery has it once two refs did.
const TypeStateUnique xpv2.ConditionType = "StateUnique"

// ReasonStateOnce is a reason of condition StateUnique: one ref alone holds the state again.
const ReasonStateOnce xpv2.ConditionReason = "StateOnce"

// Reasons of a GitDelivery's Ready condition. Terminal means that it stays until the spec, the configuration or the
// repository changes; the others are tried again.
const (
	// ReasonDelivered means that the repository holds the desired trees of the revision.
	ReasonDelivered xpv2.ConditionReason = "Delivered"

	// ReasonRestoringDrift means that another commit changed the claim's directories, and that the provider is restoring them. It is a
	// reason of a true Ready: the revision was delivered before, and is being delivered again.
	ReasonRestoringDrift xpv2.ConditionReason = "RestoringDrift"

	// ReasonDriftRestored means that the repository holds the desired trees of the revision, and that the provider's last commit restored
	// them after another commit had changed them. It stays until the desired trees change.
	ReasonDriftRestored xpv2.ConditionReason = "DriftRestored"

	// ReasonPushing means that an attempt was begun.
	ReasonPushing xpv2.ConditionReason = "Pushing"

	// ReasonConflict means that another client pushed at the same time.
	ReasonConflict xpv2.ConditionReason = "Conflict"

	// ReasonPolicyDenied means that a limit of the Site, the configuration or the server forbids it. Terminal.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonAuthFailed means that the server does not accept the credentials.
	ReasonAuthFailed xpv2.ConditionReason = "AuthFailed"

	// ReasonTrustFailed means that the server's certificate is not trusted.
	ReasonTrustFailed xpv2.ConditionReason = "TrustFailed"

	// ReasonUnreachable means that the server or the repository cannot be reached.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"

	// ReasonOrderBehind means that a newer position is known. Terminal.
	ReasonOrderBehind xpv2.ConditionReason = "OrderBehind"

	// ReasonIllegal means that an event must not be recorded on top of the ledger: a verdict that is judged again, for example. Terminal.
	ReasonIllegal xpv2.ConditionReason = "Illegal"

	// ReasonStateNewer means that a newer version of the provider wrote the state of the claim, in a way that this version must not change.
	// Terminal.
	ReasonStateNewer xpv2.ConditionReason = "StateNewer"

	// ReasonMemoryUnknown means that neither a status nor a repository holds a record of earlier deliveries.
	ReasonMemoryUnknown xpv2.ConditionReason = "MemoryUnknown"

	// ReasonStateRefused means that the repository accepts no form of the state. Terminal.
	ReasonStateRefused xpv2.ConditionReason = "StateRefused"

	// ReasonStateUntrusted means that the state in the repository is not signed by us. Terminal.
	ReasonStateUntrusted xpv2.ConditionReason = "StateUntrusted"

	// ReasonBranchLeft is a reason of events: the configuration names another branch, and the former one keeps directories of the claim.
	ReasonBranchLeft xpv2.ConditionReason = "BranchLeft"

	// ReasonStateTwice is a reason of condition StateUnique and of an event: two refs of the repository hold a state of the control plane, and the
	// older one does not count.
	ReasonStateTwice xpv2.ConditionReason = "StateTwice"

	// ReasonNotOwner means that the directory is another claim's, or holds files that we did not write. Terminal.
	ReasonNotOwner xpv2.ConditionReason = "NotOwner"

	// ReasonObjectConflict means that another claim delivers one of the objects to the same Site. It ends when that claim, or its object,
	// is gone.
	ReasonObjectConflict xpv2.ConditionReason = "ObjectConflict"

	// ReasonOwnedElsewhere means that the directory is another control plane's. Terminal.
	ReasonOwnedElsewhere xpv2.ConditionReason = "OwnedElsewhere"

	// ReasonDiverged means that the branch's history was rewritten. Terminal.
	ReasonDiverged xpv2.ConditionReason = "Diverged"

	// ReasonTreeGone means that a tree which is to be restored is nowhere any more. Terminal.
	ReasonTreeGone xpv2.ConditionReason = "TreeGone"

	// ReasonDrifted means that an unmanaged commit changed the claim's directory.
	ReasonDrifted xpv2.ConditionReason = "Drifted"

	// ReasonTooLarge means that the trees do not fit. Terminal.
	ReasonTooLarge xpv2.ConditionReason = "TooLarge"

	// ReasonCredentialsGone means that the configuration or its Secret is missing.
	ReasonCredentialsGone xpv2.ConditionReason = "CredentialsGone"

	// ReasonSiteMissing means that a Site of the revision does not exist, or may not be used from the namespace.
	ReasonSiteMissing xpv2.ConditionReason = "SiteMissing"

	// ReasonDeliveryTimedOut means that the revision was not delivered within deliveryTimeout. It is tried on.
	ReasonDeliveryTimedOut xpv2.ConditionReason = "DeliveryTimedOut"

	// ReasonInvalid means that the spec or the configuration cannot be understood. Terminal.
	ReasonInvalid xpv2.ConditionReason = "Invalid"
)
