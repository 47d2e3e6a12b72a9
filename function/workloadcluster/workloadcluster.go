// Package workloadcluster is the pure core for WorkloadClusters: from a spec and the observed resources it computes the desired
// ManagedCluster, and a status. It does no I/O, keeps no state and reads no clock: the same input gives the same output.
package workloadcluster

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/projection"
)

// Input is all that one call of the function gets.
type Input struct {
	// Namespace and Name of the claim, or of the namespaced composite.
	Namespace, Name string

	// UID of the composite.
	UID string

	// Answers to the needs of earlier calls.
	Answers catalog.Answers

	// Spec, and the last Status.
	Spec   v1alpha1.WorkloadClusterSpec
	Status v1alpha1.WorkloadClusterStatus

	// Observed composed resources, by their name in the composition.
	Observed map[string]*unstructured.Unstructured

	// Now is written to the log of transitions, and never read.
	Now metav1.Time
}

// Output is the result for an Input.
type Output struct {
	// Needs are objects that Crossplane has to send in the next call.
	Needs []catalog.Need

	// Resources that should exist, by their name in the composition.
	Resources map[string]desired.Resource

	// Status of the WorkloadCluster.
	Status *v1alpha1.WorkloadClusterStatus

	// Conditions of the WorkloadCluster.
	Conditions []projection.Condition

	// Ready says whether the cluster is in its desired state now.
	Ready bool
}

// Run computes the output of one call. A problem of the spec is part of the output; an error means a bug, or an observed object that cannot
// be read.
func Run(in Input) (*Output, error) {
	in.Spec = *in.Spec.DeepCopy()
	in.Spec.Default()
	out := &Output{Resources: map[string]desired.Resource{}}
	f, err := observeResources(in, out)
	if err != nil {
		return nil, err
	}
	if err := findNameConflict(in, f, out); err != nil {
		return nil, err
	}
	if problem := findSpecProblem(in, f.Observed); problem != "" {
		f.Problem, f.ProblemReason = problem, v1alpha1.ReasonInvalidSpec
	}
	if f.Problem == "" && f.BlockedBy == "" {
		if err := requestManagedCluster(in, f, out); err != nil {
			return nil, err
		}
	}
	if r, ok := out.Resources[Name]; ok {
		r.Ready = f.isManagedClusterReady()
		out.Resources[Name] = r
	}
	out.Status = projectStatus(f, &in.Status, in.Now)
	out.Conditions = projectConditions(f)
	out.Ready = f.isClusterReady()
	return out, nil
}

// observeResources reads the composed resources, and desires each as it is, so that a call which returns early removes nothing.
func observeResources(in Input, out *Output) (*facts, error) {
	d, err := digest.Cluster(&in.Spec)
	if err != nil {
		return nil, err
	}
	f := &facts{Digest: d, Spec: in.Spec}
	for name, o := range in.Observed {
		retained, err := desired.Retain(o)
		if err != nil {
			return nil, err
		}
		out.Resources[name] = desired.Resource{Object: retained}
	}
	o, ok := in.Observed[Name]
	if !ok {
		return f, nil
	}
	f.Observed = &clusterv1alpha1.ManagedCluster{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, f.Observed)
	return f, errors.Wrapf(err, "cannot read composed resource %q", Name)
}

// requestManagedCluster adds the ManagedCluster to the desired resources.
func requestManagedCluster(in Input, f *facts, out *Output) error {
	f.Desired = composeManagedCluster(in)
	o, err := desired.Encode(f.Desired)
	if err != nil {
		return errors.Wrapf(err, "cannot encode composed resource %q", Name)
	}
	out.Resources[Name] = desired.Resource{Object: o}
	f.matchesDesired, err = requestsSameCluster(f.Observed, f.Desired)
	return err
}
