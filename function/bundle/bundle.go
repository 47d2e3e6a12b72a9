// Package bundle is the pure core for Bundles: from a spec and the observed resources it computes the desired BundleState, and a status. It does no I/O,
// keeps no state and reads no clock: the same input gives the same output.
//
// The provider makes the packages, and not Crossplane: a composed package that leaves the spec would be deleted at once.
package bundle

import (
	"cmp"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/function/desired"
)

// Input is all that one call of the function gets.
type Input struct {
	// Group, Namespace and Name of the claim, or of the namespaced composite.
	Group, Namespace, Name string

	// Spec, and the last Status.
	Spec   v1alpha1.BundleSpec
	Status v1alpha1.BundleStatus

	// Observed composed resources, by their name in the composition.
	Observed map[string]*unstructured.Unstructured

	// Now is written to the log of transitions, and never read.
	Now metav1.Time
}

// Output is the result for an Input.
type Output struct {
	// Resources that should exist, by their name in the composition.
	Resources map[string]desired.Resource

	Projection
}

// Run computes the output of one call. A problem of the spec is part of the output, and changes nothing that runs; an error means a bug, or an observed
// object that cannot be read.
func Run(in Input) (*Output, error) {
	in.Spec = *in.Spec.DeepCopy()
	in.Spec.Default()
	retained, err := desired.RetainAll(in.Observed)
	if err != nil {
		return nil, err
	}
	observed, err := desired.Observe[statev1alpha1.BundleState](in.Observed, StateName)
	if err != nil {
		return nil, err
	}
	out := &Output{Resources: retained}
	f := &Facts{Version: in.Spec.Version, IsSuspended: *in.Spec.Suspend, Enabled: len(in.Spec.Packages) - len(listDisabled(in.Spec.Packages))}
	if f.Digest, err = digest.Bundle(&in.Spec); err != nil {
		return nil, err
	}
	var packages []statev1alpha1.BundlePackage
	if f.Problem = findSpecProblem(in); f.Problem == "" {
		packages, f.Problem = compilePackages(in.Namespace, in.Spec.Packages)
	}
	pruneAfter, problem := readPruneAge(&in.Spec)
	f.Problem = cmp.Or(f.Problem, problem)
	if err := out.composeState(newBundleState(in, f.Digest, packages, pruneAfter), f.Problem == ""); err != nil {
		return nil, err
	}
	f.addPackages(packages)
	f.addObservation(observed)
	desired.SetReady(out.Resources, StateName, observed != nil && observed.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue)
	out.Projection = Project(f, &in.Status, in.Now)
	return out, nil
}
