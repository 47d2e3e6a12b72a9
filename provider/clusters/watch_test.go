package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestNarrow(t *testing.T) {
	if got := (watchKey{name: "c1"}).narrowOptions(metav1.ListOptions{}).FieldSelector; got != "metadata.name=c1" {
		t.Errorf("one object alone: %q", got)
	}
	if got := (watchKey{}).narrowOptions(metav1.ListOptions{}).FieldSelector; got != "" {
		t.Errorf("all: %q", got)
	}
}

func TestStripKind(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"kind": "CustomResourceDefinition",
		"spec": map[string]any{"versions": []any{map[string]any{"name": "v1", "schema": map[string]any{"a": "b"}}, "junk"}},
	}}
	stripUnreadFields(u)
	want := map[string]any{"versions": []any{map[string]any{"name": "v1"}, "junk"}}
	if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Errorf("a definition: -want, +got:\n%s", diff)
	}
	u = &unstructured.Unstructured{Object: map[string]any{"kind": "Workspace", "spec": map[string]any{"forProvider": map[string]any{"module": "large"}}}}
	if stripUnreadFields(u); len(u.Object["spec"].(map[string]any)) > 0 {
		t.Errorf("a Workspace: %v", u.Object)
	}
}
