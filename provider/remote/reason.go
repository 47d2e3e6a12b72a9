package remote

import (
	"cmp"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository"
)

// ReasonOf returns the reason for an error about a repository in the Ready condition of a GitDelivery.
func ReasonOf(err error) xpv2.ConditionReason {
	switch {
	case isErrorOfType[*credentials.GoneError](err):
		return v1alpha1.ReasonCredentialsGone
	case isErrorOfType[*credentials.InvalidError](err):
		return v1alpha1.ReasonInvalid
	case isErrorOfType[*deniedError](err):
		return v1alpha1.ReasonPolicyDenied
	case repository.IsPending(err):
		return v1alpha1.ReasonPushing
	}
	return cmp.Or(map[failure.Class]xpv2.ConditionReason{
		failure.ClassInvalid:      v1alpha1.ReasonInvalid,
		failure.ClassOccupied:     v1alpha1.ReasonNotOwner,
		failure.ClassConflict:     v1alpha1.ReasonConflict,
		failure.ClassPolicy:       v1alpha1.ReasonPolicyDenied,
		failure.ClassAddress:      v1alpha1.ReasonPolicyDenied,
		failure.ClassStateRefused: v1alpha1.ReasonStateRefused,
		failure.ClassAuth:         v1alpha1.ReasonAuthFailed,
		failure.ClassTrust:        v1alpha1.ReasonTrustFailed,
		failure.ClassTooLarge:     v1alpha1.ReasonTooLarge,
		failure.ClassTooCostly:    v1alpha1.ReasonTooLarge,
	}[failure.ClassOf(err)], v1alpha1.ReasonUnreachable)
}

// MessageOf returns the text of an error, with the server's own message to the user.
func MessageOf(err error) string {
	var e *failure.Error
	if !errors.As(err, &e) || e.Remote == "" {
		return err.Error()
	}
	return err.Error() + ". The server says: " + e.Remote
}

// IsUnusable reports whether the configuration of a repository, or a credential, is missing, not valid, or not for the namespace.
func IsUnusable(err error) bool {
	return isErrorOfType[*credentials.GoneError](err) || isErrorOfType[*credentials.InvalidError](err) || isErrorOfType[*deniedError](err)
}

// isErrorOfType reports whether an error has a type, or wraps an error of that type.
func isErrorOfType[T error](err error) bool {
	var wrapped T
	return errors.As(err, &wrapped)
}

// A deniedError reports that the configuration does not permit the namespace.
type deniedError struct {
	err error
}

// Error returns the denial.
func (e *deniedError) Error() string { return e.err.Error() }
