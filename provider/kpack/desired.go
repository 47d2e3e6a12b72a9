package kpack

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// history is how many Builds of each outcome are kept: as many as there are revisions to go back to.
const history = 11

// A Plan has the inputs of an Image.
type Plan struct {
	// Namespace and Name of the Image.
	Namespace, Name string

	// Owner that controls the Image.
	Owner metav1.OwnerReference

	// Request and Commit that are wanted. The commit is empty for an archive.
	Request, Commit string

	// Tag that images are pushed to, without a tag of its own.
	Tag string

	// Builder and ServiceAccount, with the configuration's values filled in.
	Builder        buildv1alpha1.BuilderReference
	ServiceAccount string

	// Build is the desired build.
	Build buildv1alpha1.ImageBuildParameters
}

// DesiredImage returns the Image of a plan. Each field that may change is in it, so that it can be compared.
func DesiredImage(p Plan) *unstructured.Unstructured {
	u := NewObject(ImageKind())
	u.SetNamespace(p.Namespace)
	u.SetName(p.Name)
	u.SetLabels(map[string]string{buildv1alpha1.LabelImageBuild: p.Name})
	u.SetAnnotations(map[string]string{buildv1alpha1.AnnotationRequest: p.Request, buildv1alpha1.AnnotationTrigger: p.Build.Source.Trigger})
	u.SetOwnerReferences([]metav1.OwnerReference{p.Owner})
	builder := map[string]any{"kind": p.Builder.Kind, "name": string(p.Builder.Name)}
	if p.Builder.Kind != buildv1alpha1.KindClusterBuilder {
		builder["namespace"] = p.Namespace
	}
	u.Object["spec"] = map[string]any{
		"tag": p.Tag, "builder": builder, "serviceAccountName": p.ServiceAccount, "source": p.imageSourceSpec(), "build": p.imageBuildSpec(), "cache": p.imageCacheSpec(),
		"successBuildHistoryLimit": int64(history), "failedBuildHistoryLimit": int64(history), "imageTaggingStrategy": "BuildNumber",
	}
	return u
}

func (p Plan) imageSourceSpec() map[string]any {
	if blob := p.Build.Source.Blob; blob != nil {
		return map[string]any{"blob": map[string]any{"url": blob.URL}}
	}
	git := p.Build.Source.Git
	out := map[string]any{"git": map[string]any{"url": git.URL, "revision": p.Commit}}
	if git.SubPath != "" {
		out["subPath"] = git.SubPath
	}
	return out
}

// imageBuildSpec has no empty list and no empty value: kpack's webhook writes an Image as its own types do, and leaves empty fields out.
func (p Plan) imageBuildSpec() map[string]any {
	var env, services []any
	for _, v := range p.Build.Env {
		env = append(env, variableSpec(v))
	}
	for _, b := range p.Build.Bindings {
		services = append(services, map[string]any{"apiVersion": "v1", "kind": "Secret", "name": string(b.Name)})
	}
	out := map[string]any{"resources": resourcesSpec(p.Build.Resources)}
	if len(env) > 0 {
		out["env"] = env
	}
	if len(services) > 0 {
		out["services"] = services
	}
	if timeout, err := time.ParseDuration(p.Build.Timeout); err == nil {
		out["buildTimeout"] = int64(timeout.Seconds())
	}
	return out
}

func variableSpec(v buildv1alpha1.Variable) map[string]any {
	out := map[string]any{"name": string(v.Name)}
	if v.Value != "" {
		out["value"] = v.Value
	}
	return out
}

// resourcesSpec returns the resources of a step. Memory is its limit, too.
func resourcesSpec(r buildv1alpha1.Resources) map[string]any {
	requests, out := map[string]any{}, map[string]any{}
	if r.CPU != "" {
		requests["cpu"] = canonicalAmount(string(r.CPU))
	}
	if r.Memory != "" {
		requests["memory"] = canonicalAmount(string(r.Memory))
		out["limits"] = map[string]any{"memory": requests["memory"]}
	}
	if len(requests) > 0 {
		out["requests"] = requests
	}
	return out
}

// canonicalAmount returns an amount as the API server would write it.
func canonicalAmount(s string) string {
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return s
	}
	return q.String()
}

// imageCacheSpec returns the cache. Where there is none it is empty, and not absent: kpack would add a volume.
func (p Plan) imageCacheSpec() map[string]any {
	switch c := p.Build.Cache; {
	case c == nil:
		return map[string]any{}
	case c.Registry:
		return map[string]any{"registry": map[string]any{"tag": p.Tag + ":build-cache"}}
	default:
		return map[string]any{"volume": map[string]any{"size": canonicalAmount(string(c.Volume))}}
	}
}

// IsApplied reports whether an Image is as desired. Additions of kpack and others do not count.
func IsApplied(desired, observed *unstructured.Unstructured) bool {
	want, _ := desired.Object["spec"].(map[string]any)
	current, _ := observed.Object["spec"].(map[string]any)
	for key, value := range want {
		if !reflect.DeepEqual(value, current[key]) {
			return false
		}
	}
	return hasAllEntries(desired.GetLabels(), observed.GetLabels()) && hasAllEntries(desired.GetAnnotations(), observed.GetAnnotations())
}

func hasAllEntries(want, current map[string]string) bool {
	for key, value := range want {
		if got, ok := current[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// IsOwned reports whether an Image belongs to an ImageBuild.
func IsOwned(observed *unstructured.Unstructured, reference metav1.OwnerReference) bool {
	owner := metav1.GetControllerOf(observed)
	return owner != nil && owner.UID == reference.UID
}
