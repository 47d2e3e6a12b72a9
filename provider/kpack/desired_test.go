package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestEmptyVariable has a variable without a value, which kpack's webhook writes as its own types do.
func TestEmptyVariable(t *testing.T) {
	p := Plan{Namespace: "team-a", Name: "shop"}
	p.Build.Source.Git = &buildv1alpha1.GitSource{URL: "https://git.example.org/shop.git"}
	p.Build.Env = []buildv1alpha1.Variable{{Name: "EMPTY"}, {Name: "FULL", Value: "1"}}
	got, _, _ := unstructured.NestedSlice(DesiredImage(p).Object, "spec", "build", "env")
	want := []any{map[string]any{"name": "EMPTY"}, map[string]any{"name": "FULL", "value": "1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A variable without a value has no key for it: -want, +got:\n%s", diff)
	}
}

// TestBuildSpec has the attachments of a team for a build: credentials of private packages, and a volume as a cache.
func TestBuildSpec(t *testing.T) {
	p := Plan{Build: buildv1alpha1.ImageBuildParameters{Settings: buildv1alpha1.Settings{
		Bindings: []deploymentv1alpha1.ObjectReference{{Name: "npm"}, {Name: "maven"}}, Cache: &buildv1alpha1.Cache{Volume: "2048Mi"},
	}}}
	want := map[string]any{"resources": map[string]any{}, "services": []any{
		map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "npm"}, map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "maven"},
	}}
	if diff := cmp.Diff(want, p.imageBuildSpec()); diff != "" {
		t.Errorf("Bindings are Secrets of the namespace, in the order given.\nbuildSpec(): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"volume": map[string]any{"size": "2Gi"}}, p.imageCacheSpec()); diff != "" {
		t.Errorf("A volume has its size as the API server writes it.\ncacheSpec(): -want, +got:\n%s", diff)
	}
}
