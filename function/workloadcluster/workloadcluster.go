// Package workloadcluster is the pure core for WorkloadClusters: a spec and what is observed in, the ManagedCluster that should exist and
// a status out. It does no I/O, keeps no state and reads no clock: the same input gives the same output.
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
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/projection"
)

// Input is all that a call knows.
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

// Output is what follows from an Input.
type Output struct {
	// Needs that have to be answered.
	Needs []catalog.Need

	// Resources that should exist, by their name in the composition.
	Resources map[string]compose.Resource

	// Status of the WorkloadCluster.
	Status *v1alpha1.WorkloadClusterStatus

	// Conditions of the WorkloadCluster.
	Conditions []projection.Condition

	// Ready says whether the cluster is as it was asked for, now.
	Ready bool
}

// Run carries out one call. Whatever is wrong with the spec is in the output; an error is a bug, or an observed object that cannot be
// read.
func Run(in Input) (*Output, error) {
	in.Spec = *in.Spec.DeepCopy()
	in.Spec.Default()
	out := &Output{Resources: map[string]compose.Resource{}}
	f, err := observe(in, out)
	if err != nil {
		return nil, err
	}
	if err := another(in, f, out); err != nil {
		return nil, err
	}
	if problem := problemOf(in, f.Observed); problem != "" {
		f.Problem, f.Because = problem, v1alpha1.ReasonInvalidSpec
	}
	if f.Problem == "" && f.Wait == "" {
		if err := ask(in, f, out); err != nil {
			return nil, err
		}
	}
	if r, ok := out.Resources[Name]; ok {
		r.Ready = f.managedReady()
		out.Resources[Name] = r
	}
	out.Status = status(f, &in.Status, in.Now)
	out.Conditions = conditions(f)
	out.Ready = f.ready()
	return out, nil
}

// observe reads the composed resources, and asks for each as it is: what returns early loses nothing.
func observe(in Input, out *Output) (*facts, error) {
	d, err := digest.Cluster(&in.Spec)
	if err != nil {
		return nil, err
	}
	f := &facts{Digest: d, Spec: in.Spec}
	for name, o := range in.Observed {
		kept, err := compose.Retain(o)
		if err != nil {
			return nil, err
		}
		out.Resources[name] = compose.Resource{Object: kept}
	}
	o, ok := in.Observed[Name]
	if !ok {
		return f, nil
	}
	f.Observed = &clusterv1alpha1.ManagedCluster{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, f.Observed)
	return f, errors.Wrapf(err, "cannot read composed resource %q", Name)
}

// ask for the ManagedCluster.
func ask(in Input, f *facts, out *Output) error {
	f.Desired = managed(in)
	o, err := compose.Encode(f.Desired)
	if err != nil {
		return errors.Wrapf(err, "cannot encode composed resource %q", Name)
	}
	out.Resources[Name] = compose.Resource{Object: o}
	f.carried, err = asksFor(f.Observed, f.Desired)
	return err
}
