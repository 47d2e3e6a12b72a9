package bundle

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// Check returns the packages that the function would ask for, in their order. It returns an error that names the field if the spec cannot be carried out.
func Check(namespace, name string, spec v1alpha1.BundleSpec) ([]statev1alpha1.BundlePackage, error) {
	in := Input{Namespace: namespace, Name: name, Spec: *spec.DeepCopy()}
	in.Spec.Default()
	problem := findSpecProblem(in)
	if problem != "" {
		return nil, errors.New(problem)
	}
	all, problem := compilePackages(namespace, in.Spec.Packages)
	if problem != "" {
		return nil, errors.New(problem)
	}
	return all, nil
}

// DeploymentOf returns the spec of a package that is an IntentDeployment. It returns an error when that cannot be decoded.
func DeploymentOf(p *statev1alpha1.BundlePackage) (*deploymentv1alpha1.IntentDeploymentSpec, error) {
	out := &deploymentv1alpha1.IntentDeploymentSpec{}
	return out, decodeStrictly(p.Spec, out)
}

// ApplicationOf returns the spec of a package that is an Application. It returns an error when that cannot be decoded.
func ApplicationOf(p *statev1alpha1.BundlePackage) (*applicationv1alpha1.ApplicationSpec, error) {
	out := &applicationv1alpha1.ApplicationSpec{}
	return out, decodeStrictly(p.Spec, out)
}
