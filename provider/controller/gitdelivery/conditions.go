package gitdelivery

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/repository"
)

// wayOut is what a person can do about a deletion that cannot reach the repository.
const wayOut = `. To end the deletion and leave the repository as it is, set spec.managementPolicies to ["Observe"]`

func ready(d *v1alpha1.GitDelivery, now time.Time) {
	wait(d, now)
	setReady(d, corev1.ConditionTrue, v1alpha1.ReasonDelivered, "")
}

func unready(d *v1alpha1.GitDelivery, now time.Time, reason xpv2.ConditionReason, message string) {
	wait(d, now)
	reason, message = overdue(d, now, reason, message)
	setReady(d, corev1.ConditionFalse, reason, message)
}

// setReady names the generation that the condition speaks of: without it the condition is no evidence.
func setReady(d *v1alpha1.GitDelivery, status corev1.ConditionStatus, reason xpv2.ConditionReason, message string) {
	d.SetConditions(xpv2.Condition{
		Type:               xpv2.TypeReady,
		Status:             status,
		LastTransitionTime: metav1.Now(),
		Reason:             reason,
		Message:            message,
	}.WithObservedGeneration(d.GetGeneration()))
}

// reasonOf returns the reason that an error gives for not being ready.
func reasonOf(err error) xpv2.ConditionReason {
	var (
		gone    *credentials.GoneError
		invalid *credentials.InvalidError
		denied  *deniedError
	)
	switch {
	case errors.As(err, &gone):
		return v1alpha1.ReasonCredentialsGone
	case errors.As(err, &invalid):
		return v1alpha1.ReasonInvalid
	case errors.As(err, &denied):
		return v1alpha1.ReasonPolicyDenied
	case repository.IsPending(err):
		return v1alpha1.ReasonPushing
	}
	return reasonOfClass(git.ClassOf(err))
}

func reasonOfClass(c git.Class) xpv2.ConditionReason {
	switch c {
	case git.ClassInvalid:
		return v1alpha1.ReasonInvalid
	case git.ClassOccupied:
		return v1alpha1.ReasonNotOwner
	case git.ClassConflict:
		return v1alpha1.ReasonConflict
	case git.ClassPolicy:
		return v1alpha1.ReasonPolicyDenied
	case git.ClassStateRefused:
		return v1alpha1.ReasonStateRefused
	case git.ClassAuth:
		return v1alpha1.ReasonAuthFailed
	case git.ClassTrust:
		return v1alpha1.ReasonTrustFailed
	case git.ClassTooLarge:
		return v1alpha1.ReasonTooLarge
	}
	return v1alpha1.ReasonUnreachable
}

// A deniedError is a limit of the configuration.
type deniedError struct {
	err error
}

// Error says which limit.
func (e *deniedError) Error() string { return e.err.Error() }
