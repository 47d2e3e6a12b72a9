package bundlestate

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
)

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
	sum, _ := readEvidence(u)
	return sum
}

// readEvidence returns the digest of an object's spec, and what its status says. Of an object that cannot be read nothing is known.
func readEvidence(u *unstructured.Unstructured) (string, evidence) {
	if u.GetKind() == applicationv1alpha1.Kind {
		return readApplication(u)
	}
	return readDeployment(u)
}

func readDeployment(u *unstructured.Unstructured) (string, evidence) {
	d := &deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
		return "", evidence{}
	}
	sum, err := digest.Spec(&d.Spec)
	if err != nil {
		return "", evidence{}
	}
	s := d.Status
	return sum, evidence{
		reported: s.IntentDigest, isHeldBack: s.IsOfEarlierRequest(),
		isDone:    s.Phase == deploymentv1alpha1.PhaseSucceeded && s.Outcome == deploymentv1alpha1.OutcomeSucceeded,
		hasFailed: s.Outcome == deploymentv1alpha1.OutcomeFailed, wasRolledBack: s.Outcome == deploymentv1alpha1.OutcomeRolledBack,
		ready: s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue, revision: s.Revision, commit: s.Delivery.GitCommit, message: s.Message,
	}
}

// readApplication reads an Application. It was deployed once its deployment succeeded, and whether pods serve is part of its readiness.
func readApplication(u *unstructured.Unstructured) (string, evidence) {
	a := &application{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, a); err != nil {
		return "", evidence{}
	}
	sum, err := digest.Application(&a.Spec)
	if err != nil {
		return "", evidence{}
	}
	s := a.Status
	return sum, evidence{
		reported: s.SpecDigest, isDone: s.Deployment.Outcome == string(deploymentv1alpha1.OutcomeSucceeded) && s.Phase != applicationv1alpha1.PhaseFailed,
		hasFailed: s.Phase == applicationv1alpha1.PhaseFailed, wasRolledBack: s.IsRolledBack(),
		ready:    s.Phase == applicationv1alpha1.PhaseRunning && s.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue,
		revision: s.Deployment.Revision, message: s.Message,
	}
}
