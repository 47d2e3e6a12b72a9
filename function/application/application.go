// Package application is the pure core for Applications: from a spec and the observed resources it computes the desired ImageBuild, IntentDeployment and
// SiteHealth, and a status. It does no I/O, keeps no state and reads no clock: the same input gives the same output.
//
// The phase is about the current spec. Each piece of evidence names its subject, and evidence about another spec, commit or image proves nothing:
// an old success never counts for a new request.
package application

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/desired"
)

// Input is all that one call of the function gets.
type Input struct {
	// APIGroup, Namespace and Name of the claim, or of the namespaced composite.
	APIGroup, Namespace, Name string

	// UID of the composite.
	UID string

	// Answers to the needs of earlier calls.
	Answers catalog.Answers

	// Spec, and the last Status.
	Spec   v1alpha1.ApplicationSpec
	Status v1alpha1.ApplicationStatus

	// Observed composed resources, by their name in the composition.
	Observed map[string]*unstructured.Unstructured

	// Now is written to the log of transitions. It is read only to end the wait for a deployment that does not observe an image.
	Now metav1.Time
}

// Output is the result for an Input.
type Output struct {
	// Needs are objects that Crossplane has to send in the next call.
	Needs []catalog.Need

	// Resources that should exist, by their name in the composition.
	Resources map[string]desired.Resource

	// Wait is the time until the next call, for a condition that is not watched. 0 means that every condition is watched.
	Wait time.Duration

	// Passing is true for an intermediate status: a follow-up call writes the final status and conditions, once the deployment has observed the new
	// spec. It ends by itself after Wait.
	Passing bool

	Projection
}

// nameInterval is the time after which an Application whose name is taken checks it again.
const nameInterval = 20 * time.Second

// Run computes the output of one call. A problem of the spec is part of the output; an error means a bug, or an observed object that cannot
// be read.
func Run(in Input) (*Output, error) {
	in.Spec = *in.Spec.DeepCopy()
	in.Spec.Default()
	out := &Output{Resources: map[string]desired.Resource{}}
	o, err := observeResources(in, out)
	if err != nil {
		return nil, err
	}
	f := &Facts{Build: unobservedBuild(in.Spec), Deployment: Deployment{Name: in.Name}, URL: serviceURLOf(in.Spec), InForce: o.recordedBuild(in.Status.BuiltImage)}
	if f.Digest, err = digest.Application(&in.Spec); err != nil {
		return nil, err
	}
	if f.Problem = findSpecProblem(in); f.Problem != "" {
		f.ProblemReason = v1alpha1.ReasonInvalidSpec
	}
	if err := findNameConflict(in, o, f, out); err != nil {
		return nil, err
	}
	fill := requestResources
	if f.Problem != "" || f.Missing != "" {
		fill = keepEvidence
	}
	if err := fill(in, o, f, out); err != nil {
		return nil, err
	}
	if f.ProblemReason == v1alpha1.ReasonNameTaken || f.MissingReason == v1alpha1.ReasonAwaitingDeletion {
		out.Wait = nameInterval
	}
	o.markReadyResources(out)
	if left := f.handoverLeft(in, o); left > 0 {
		out.Passing, out.Wait = true, left
	}
	out.Projection = Project(f, &in.Status, in.Now)
	return out, nil
}

// unobservedBuild returns the evidence about a build before its first observation.
func unobservedBuild(s v1alpha1.ApplicationSpec) Build {
	if s.IsBuilt() {
		return Build{State: BuildUnknown}
	}
	return Build{State: BuildNotRequired}
}
