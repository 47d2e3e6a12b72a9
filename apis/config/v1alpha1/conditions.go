package v1alpha1

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// TypeStateSigned says whether commits and the state are signed, so that the state of a stranger restores nothing.
const TypeStateSigned xpv2.ConditionType = "StateSigned"

// Reasons of StateSigned.
const (
	// ReasonSigned means that there is a key.
	ReasonSigned xpv2.ConditionReason = "Signed"

	// ReasonStateUnsigned means that there is none.
	ReasonStateUnsigned xpv2.ConditionReason = "StateUnsigned"
)
