package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// TypeStateSigned reports whether commits and the state are signed, so that a state forged by another user restores nothing.
const TypeStateSigned xpv2.ConditionType = "StateSigned"

// TypeTerminating has the reason why a deleted configuration still exists. Absent unless it was deleted.
const TypeTerminating xpv2.ConditionType = "Terminating"

// ReasonInUse is the reason of Terminating, and of the event on a Secret: GitDeliveries need the object for as long as they exist, to clean
// their repository up.
const ReasonInUse xpv2.ConditionReason = "InUse"

// Reasons of Ready, in addition to the reasons of a GitDelivery: the repository cannot be read, or cannot be written at all.
const (
	// ReasonReachable means that the last request to the repository, with the credentials of the configuration, succeeded.
	ReasonReachable xpv2.ConditionReason = "Reachable"
)

// Reasons of StateSigned.
const (
	// ReasonSigned means that a key is configured.
	ReasonSigned xpv2.ConditionReason = "Signed"

	// ReasonStateUnsigned means that no key is configured.
	ReasonStateUnsigned xpv2.ConditionReason = "StateUnsigned"
)
