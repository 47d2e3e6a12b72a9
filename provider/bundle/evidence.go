// Package bundle has the kinds of a Bundle's packages, the evidence in the status of their objects, and the next change of their record. It is pure.
package bundle

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

// An Evidence is the report of an object's status.
type Evidence struct {
	// Reported is the digest of the spec that the status is about.
	Reported string

	// IsDone, HasFailed, WasRolledBack and IsHeldBack say how the deployment of that spec ended, or that it is suspended.
	IsDone, HasFailed, WasRolledBack, IsHeldBack bool

	// Ready is true for an object that is ready now.
	Ready bool

	// Revision that is delivered, and the Commit that brought it to the repository.
	Revision int64
	Commit   string

	// Message of the status.
	Message string
}

// A deployment has the fields that are read from an IntentDeployment.
type deployment struct {
	Spec   deploymentv1alpha1.IntentDeploymentSpec `json:"spec"`
	Status struct {
		deploymentv1alpha1.IntentDeploymentStatus `json:",inline"`
		xpv2.ConditionedStatus                    `json:",inline"`
	} `json:"status"`
}

// An application has the fields that are read from an Application.
type application struct {
	Spec   applicationv1alpha1.ApplicationSpec `json:"spec"`
	Status struct {
		applicationv1alpha1.ApplicationStatus `json:",inline"`
		xpv2.ConditionedStatus                `json:",inline"`
	} `json:"status"`
}

// DigestOf returns the digest of the spec of a package's object, or "" if that cannot be read.
func DigestOf(u *unstructured.Unstructured) string {
	sum, _ := ReadEvidence(u)
	return sum
}

// ReadEvidence returns the digest of an object's spec, and the evidence in its status. Of an object that cannot be read nothing is known.
func ReadEvidence(u *unstructured.Unstructured) (string, Evidence) {
	if u.GetKind() == applicationv1alpha1.Kind {
		return readApplication(u)
	}
	return readDeployment(u)
}

func readDeployment(u *unstructured.Unstructured) (string, Evidence) {
	d := &deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return "", Evidence{}
	}
	sum, err := digest.Spec(&d.Spec)
	if err != nil {
		return "", Evidence{}
	}
	s := d.Status
	return sum, Evidence{
		Reported: s.IntentDigest, IsHeldBack: s.IsOfEarlierRequest(),
		IsDone:    s.Phase == deploymentv1alpha1.PhaseSucceeded && s.Outcome == deploymentv1alpha1.OutcomeSucceeded,
		HasFailed: s.Outcome == deploymentv1alpha1.OutcomeFailed, WasRolledBack: s.Outcome == deploymentv1alpha1.OutcomeRolledBack,
		Ready: s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue, Revision: s.Revision, Commit: s.Delivery.GitCommit, Message: s.Message,
	}
}

// readApplication reads an Application. It was deployed once its deployment succeeded, and whether pods serve is part of its readiness.
func readApplication(u *unstructured.Unstructured) (string, Evidence) {
	a := &application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, a); err != nil {
		return "", Evidence{}
	}
	sum, err := digest.Application(&a.Spec)
	if err != nil {
		return "", Evidence{}
	}
	s := a.Status
	return sum, Evidence{
		Reported: s.SpecDigest, IsDone: s.Deployment.Outcome == string(deploymentv1alpha1.OutcomeSucceeded) && s.Phase != applicationv1alpha1.PhaseFailed,
		HasFailed: s.Phase == applicationv1alpha1.PhaseFailed, WasRolledBack: s.IsRolledBack(),
		IsHeldBack: s.GetCondition(applicationv1alpha1.TypeReconciling).Reason == applicationv1alpha1.ReasonHeldBack,
		Ready:      s.Phase == applicationv1alpha1.PhaseRunning && s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue,
		Revision:   s.Deployment.Revision, Message: s.Message,
	}
}
