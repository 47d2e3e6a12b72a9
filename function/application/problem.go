package application

import (
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/apis/containerimage"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// maxName bounds the name of an Application: objects at its Sites have it, some with an ending.
const maxName = 52

// findSpecProblem returns the part of a spec that prevents an IntentDeployment, or "". The schema refuses most problems. It does not check the name
// of an Application, nor names that occur in two lists. All else is checked where the IntentDeployment is compiled.
func findSpecProblem(in Input) string {
	if len(in.Name) > maxName || len(validation.IsDNS1035Label(in.Name)) > 0 {
		return fmt.Sprintf("metadata.name: %q cannot be the name of a service: use at most %d characters of a-z, 0-9 and -, with a-z as the first one", in.Name, maxName)
	}
	if problem := findImageProblem(in.Spec); problem != "" {
		return problem
	}
	if a := in.Spec.Autoscaling; a != nil && (in.Spec.Replicas != nil || len(in.Spec.SiteReplicas) > 0) {
		return "spec.autoscaling: it excludes replicas and siteReplicas: leave one of them out"
	}
	if problem := findProgressProblem(in.Spec.Deploy); problem != "" {
		return problem
	}
	return findSecondVariable(in.Spec)
}

// findImageProblem returns the problem with the source of the image, or "".
func findImageProblem(s v1alpha1.ApplicationSpec) string {
	if s.IsBuilt() == (s.Image != "") {
		return "spec: exactly one of image and source must be set"
	}
	if s.IsBuilt() {
		if (s.Source.Git == nil) == (s.Source.Blob == nil) {
			return "spec.source: exactly one of git and blob must be set"
		}
		return ""
	}
	if s.Build != nil {
		return "spec.build: it needs source"
	}
	if _, err := containerimage.Parse(s.Image); err != nil {
		return "spec.image: it must be the reference of an image, such as " + containerimage.Example
	}
	return ""
}

// findSecondVariable returns the name of an environment variable that spec.env or the services have twice, or "".
func findSecondVariable(s v1alpha1.ApplicationSpec) string {
	pathsByName := map[deploymentv1alpha1.EnvName]string{}
	for i, e := range s.Env {
		path := fmt.Sprintf("spec.env[%d].name", i)
		if previous, ok := pathsByName[e.Name]; ok {
			return fmt.Sprintf("%s: %s stands at %s already", path, e.Name, previous)
		}
		pathsByName[e.Name] = path
	}
	for _, service := range s.Services {
		for _, e := range service.Env {
			path := fmt.Sprintf("spec.services[%s].env[%s]", service.Name, e.Name)
			if previous, ok := pathsByName[e.Name]; ok {
				return fmt.Sprintf("%s: %s stands at %s already", path, e.Name, previous)
			}
			pathsByName[e.Name] = path
		}
	}
	return ""
}

// UnbuiltImage stands for the image of a source where none was built.
const UnbuiltImage = "unbuilt.invalid/source@sha256:0000000000000000000000000000000000000000000000000000000000000000"

// Compile returns the IntentDeployment that an Application composes. It returns an error that names the field for a spec of which none
// can be made. A source has the image UnbuiltImage in it.
func Compile(namespace, name string, s v1alpha1.ApplicationSpec) (*deploymentv1alpha1.IntentDeployment, error) {
	s = *s.DeepCopy()
	s.Default()
	if problem := findSpecProblem(Input{Namespace: namespace, Name: name, Spec: s}); problem != "" {
		return nil, errors.New(problem)
	}
	if s.IsBuilt() {
		s.Image = UnbuiltImage
	}
	c := DeploymentFor(namespace, name, s)
	return &deploymentv1alpha1.IntentDeployment{TypeMeta: c.TypeMeta, ObjectMeta: c.ObjectMeta, Spec: c.Spec}, nil
}

// NoteOn returns a remark for the author about a valid spec, or "".
func NoteOn(s v1alpha1.ApplicationSpec) string {
	if s.IsBuilt() || strings.Contains(s.Image, "@") {
		return ""
	}
	return "spec.image has no digest: its tag may name another image later, which is not noticed, and Sites may run either. Use name@sha256:… to say which one."
}
