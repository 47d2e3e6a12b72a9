package kpack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
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
