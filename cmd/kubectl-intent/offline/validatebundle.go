package offline

import (
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/function/application"
	"github.com/intentplane/intentplane/function/bundle"
)

// checkBundle looks at a Bundle as the function would, and at each of its packages as at an object of its own.
func (v *validation) checkBundle(finding Finding, d manifest.Document) {
	b := &bundlev1alpha1.Bundle{}
	if err := manifest.DecodeStrictly(d.Text, b); err != nil {
		v.addFinding(finding, d, err)
		return
	}
	all, err := bundle.Check(b.GetNamespace(), b.GetName(), b.Spec)
	if err != nil {
		finding.Field = fieldOfPackages(err.Error(), b.Spec.Packages)
		v.addFinding(finding, d, err)
		return
	}
	for i := range all {
		v.checkPackage(finding, d, i, &all[i])
	}
}

// checkPackage looks at the deployment that a package is, or that its Application composes. An existing package is not looked at.
func (v *validation) checkPackage(finding Finding, d manifest.Document, index int, p *statev1alpha1.BundlePackage) {
	if p.IsExisting() {
		return
	}
	finding.Field = fmt.Sprintf("spec.packages[%d].%s", index, fieldOfKind(p.Kind))
	c, err := deploymentOfPackage(finding.Namespace, p)
	if err == nil {
		err = v.judgeDeployment(finding, d, c)
	}
	if err == nil {
		return
	}
	finding.Reason = reasonOfFinding(err)
	prefix := fmt.Sprintf("spec.packages[%s].%s", p.Name, fieldOfKind(p.Kind))
	if rest, ok := strings.CutPrefix(err.Error(), "spec."); ok && p.Kind == deploymentv1alpha1.Kind {
		finding.Field += "." + strings.TrimPrefix(fieldOfMessage(err.Error()), "spec.")
		v.addFinding(finding, d, errors.Errorf("%s.%s", prefix, rest))
		return
	}
	v.addFinding(finding, d, errors.Wrap(err, prefix))
}

// fieldOfKind is the field of a package that has the spec of a kind.
func fieldOfKind(kind string) string {
	if kind == deploymentv1alpha1.Kind {
		return "deployment"
	}
	return "application"
}

// deploymentOfPackage returns the IntentDeployment that a package is, or that its Application composes.
func deploymentOfPackage(namespace string, p *statev1alpha1.BundlePackage) (*deploymentv1alpha1.IntentDeployment, error) {
	if p.Kind != deploymentv1alpha1.Kind {
		spec, err := bundle.ApplicationOf(p)
		if err != nil {
			return nil, err
		}
		return application.Compile(namespace, p.Name, *spec)
	}
	spec, err := bundle.DeploymentOf(p)
	if err != nil {
		return nil, err
	}
	return &deploymentv1alpha1.IntentDeployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: p.Group + "/" + deploymentv1alpha1.Version, Kind: p.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.Name}, Spec: *spec,
	}, nil
}

// fieldOfPackages returns the path of the field that a message about packages names, in which a package is known by its number.
func fieldOfPackages(message string, all []bundlev1alpha1.Package) string {
	for i, p := range all {
		if rest, ok := strings.CutPrefix(message, fmt.Sprintf("spec.packages[%s].", p.Name)); ok {
			return strings.Replace(fieldOfMessage("spec."+rest), "spec", fmt.Sprintf("spec.packages[%d]", i), 1)
		}
	}
	return fieldOfMessage(message)
}
