package kpack

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// builder has the fields that are read from a ClusterBuilder or a Builder.
type builder struct {
	Status struct {
		LatestImage string `json:"latestImage"`
	} `json:"status"`
}

// BuilderKinds returns the kinds that a build may name as its builder.
func BuilderKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{BuilderKind(buildv1alpha1.KindClusterBuilder), BuilderKind(buildv1alpha1.KindBuilder)}
}

// BuilderKind returns the kind of a builder by its name, such as ClusterBuilder.
func BuilderKind(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "kpack.io", Version: "v1alpha2", Kind: kind}
}

// BuilderImageOf returns the image that kpack made of a builder last, by its digest, or "" if it made none.
func BuilderImageOf(u *unstructured.Unstructured) string {
	return decodeObject[builder](u).Status.LatestImage
}

// TrimBuilder returns a builder with its identity and its image only: its status lists each buildpack, which takes much memory where there
// are many builders.
func TrimBuilder(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := NewObject(u.GroupVersionKind())
	out.SetNamespace(u.GetNamespace())
	out.SetName(u.GetName())
	out.SetUID(u.GetUID())
	out.SetResourceVersion(u.GetResourceVersion())
	if image := BuilderImageOf(u); image != "" {
		out.Object["status"] = map[string]any{"latestImage": image}
	}
	return out
}
