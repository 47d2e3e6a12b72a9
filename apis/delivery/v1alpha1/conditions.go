package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Reasons of a GitDelivery's Ready condition. Terminal means that it stays until the spec, the configuration or the
// repository changes; the others are tried again.
const (
	// ReasonDelivered means that the repository holds what the order asks for.
	ReasonDelivered xpv2.ConditionReason = "Delivered"

	// ReasonPushing means that an attempt was begun.
	ReasonPushing xpv2.ConditionReason = "Pushing"

	// ReasonConflict means that somebody else pushed at the same time.
	ReasonConflict xpv2.ConditionReason = "Conflict"

	// ReasonPolicyDenied means that a limit of the Site, the configuration or the server forbids it. Terminal.
	ReasonPolicyDenied xpv2.ConditionReason = "PolicyDenied"

	// ReasonAuthFailed means that the server does not accept the credentials.
	ReasonAuthFailed xpv2.ConditionReason = "AuthFailed"

	// ReasonTrustFailed means that the server's certificate is not trusted.
	ReasonTrustFailed xpv2.ConditionReason = "TrustFailed"

	// ReasonUnreachable means that the server or the repository cannot be reached.
	ReasonUnreachable xpv2.ConditionReason = "Unreachable"

	// ReasonOrderBehind means that a newer order is known. Terminal.
	ReasonOrderBehind xpv2.ConditionReason = "OrderBehind"

	// ReasonMemoryUnknown means that there is neither a status nor a repository to tell what was done before.
	ReasonMemoryUnknown xpv2.ConditionReason = "MemoryUnknown"

	// ReasonStateRefused means that the repository accepts no form of the state. Terminal.
	ReasonStateRefused xpv2.ConditionReason = "StateRefused"

	// ReasonStateUntrusted means that the state in the repository is not signed by us. Terminal.
	ReasonStateUntrusted xpv2.ConditionReason = "StateUntrusted"

	// ReasonNotOwner means that the directory is another claim's, or holds files that we did not write. Terminal.
	ReasonNotOwner xpv2.ConditionReason = "NotOwner"

	// ReasonOwnedElsewhere means that the directory is another control plane's. Terminal.
	ReasonOwnedElsewhere xpv2.ConditionReason = "OwnedElsewhere"

	// ReasonDiverged means that the branch's history was rewritten. Terminal.
	ReasonDiverged xpv2.ConditionReason = "Diverged"

	// ReasonTreeGone means that a tree which is to be restored is nowhere any more. Terminal.
	ReasonTreeGone xpv2.ConditionReason = "TreeGone"

	// ReasonDrifted means that somebody else changed the claim's directory.
	ReasonDrifted xpv2.ConditionReason = "Drifted"

	// ReasonTooLarge means that the trees do not fit. Terminal.
	ReasonTooLarge xpv2.ConditionReason = "TooLarge"

	// ReasonCredentialsGone means that the configuration or its Secret is missing.
	ReasonCredentialsGone xpv2.ConditionReason = "CredentialsGone"

	// ReasonSiteMissing means that a Site of the order does not exist, or may not be used from the namespace.
	ReasonSiteMissing xpv2.ConditionReason = "SiteMissing"

	// ReasonDeliveryTimedOut means that the order was not carried out within deliveryTimeout. It is tried on.
	ReasonDeliveryTimedOut xpv2.ConditionReason = "DeliveryTimedOut"

	// ReasonInvalid means that the spec or the configuration cannot be understood. Terminal.
	ReasonInvalid xpv2.ConditionReason = "Invalid"
)
