package bundle

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/function/application"
)

// maxSpecBytes bounds the specs of all packages together: an object of the API server has little more than a megabyte.
const maxSpecBytes = 512 << 10

// findSpecProblem returns the invalid part of a spec before its packages are decoded, or "". The schema refuses most problems.
func findSpecProblem(in Input) string {
	if len(validation.IsDNS1123Label(in.Name)) > 0 {
		return fmt.Sprintf("metadata.name: %q cannot be the name of a Bundle: use at most 63 characters of a-z, 0-9 and -", in.Name)
	}
	size := 0
	for _, p := range in.Spec.Packages {
		size += countRawBytes(p.Deployment) + countRawBytes(p.Application)
	}
	if size > maxSpecBytes {
		return fmt.Sprintf("spec.packages: the specs have %d bytes together, and may have %d: make several Bundles of them", size, maxSpecBytes)
	}
	return ""
}

func countRawBytes(raw *runtime.RawExtension) int {
	if raw == nil {
		return 0
	}
	return len(raw.Raw)
}

// compilePackages returns the packages as a BundleState has them, in their order, or a sentence that names the field that cannot be carried out.
func compilePackages(namespace string, packages []v1alpha1.Package) ([]statev1alpha1.BundlePackage, string) {
	layers, problem := OrderPackages(packages)
	if problem != "" {
		return nil, problem
	}
	out := make([]statev1alpha1.BundlePackage, 0, len(packages))
	for i := range packages {
		p, err := compilePackage(namespace, &packages[i])
		if err != nil {
			return nil, fmt.Sprintf("spec.packages[%s].%s", packages[i].Name, err)
		}
		p.Layer = layers[packages[i].Name]
		out = append(out, *p)
	}
	return out, ""
}

func compilePackage(namespace string, p *v1alpha1.Package) (*statev1alpha1.BundlePackage, error) {
	out := &statev1alpha1.BundlePackage{Name: string(p.Name), Version: p.Version, Group: v1alpha1.GroupNamespaced, Disabled: !*p.Enabled, Adopt: *p.Adopt}
	for _, name := range p.DependsOn {
		out.DependsOn = append(out.DependsOn, string(name))
	}
	switch {
	case p.Deployment != nil:
		return out, fillInDeployment(out, p.Deployment)
	case p.Application != nil:
		return out, fillInApplication(namespace, out, p.Application)
	case p.Existing != nil:
		out.Group, out.Kind = p.Existing.Group, p.Existing.Kind
		return out, nil
	}
	return nil, errors.New("name: one of deployment, application and existing must be set")
}

// fillInDeployment fills in kind, version and digest from the spec of an IntentDeployment.
func fillInDeployment(out *statev1alpha1.BundlePackage, raw *runtime.RawExtension) error {
	spec := &deploymentv1alpha1.IntentDeploymentSpec{}
	if err := decodeStrictly(raw, spec); err != nil {
		return errors.Wrap(err, "deployment")
	}
	out.Kind, out.Spec, out.Version = deploymentv1alpha1.Kind, raw, cmp.Or(out.Version, versionOrChannel(spec.Blueprint))
	var err error
	out.Digest, err = digest.Spec(spec)
	return errors.Wrap(err, "deployment")
}

// fillInApplication fills in kind, version and digest from the spec of an Application.
func fillInApplication(namespace string, out *statev1alpha1.BundlePackage, raw *runtime.RawExtension) error {
	spec := &applicationv1alpha1.ApplicationSpec{}
	if err := decodeStrictly(raw, spec); err != nil {
		return errors.Wrap(err, "application")
	}
	if _, err := application.Compile(namespace, out.Name, *spec); err != nil {
		return errors.Wrap(err, "application")
	}
	out.Kind, out.Spec, out.Version = applicationv1alpha1.Kind, raw, cmp.Or(out.Version, versionOrChannel(spec.Deploy.Blueprint))
	var err error
	out.Digest, err = digest.Application(spec)
	return errors.Wrap(err, "application")
}

// versionOrChannel returns the version that a choice of a Blueprint stands for, or the channel that it follows.
func versionOrChannel(b deploymentv1alpha1.BlueprintChoice) string {
	return cmp.Or(b.Version, b.Channel)
}

// decodeStrictly decodes a spec, and refuses unknown fields and duplicate fields.
func decodeStrictly(raw *runtime.RawExtension, into any) error {
	strict, err := kjson.UnmarshalStrict(raw.Raw, into)
	if err != nil {
		return err
	}
	if len(strict) > 0 {
		return strict[0]
	}
	return nil
}
