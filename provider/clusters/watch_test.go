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
	container := map[string]any{"name": "shop", "image": "shop:1", "env": []any{map[string]any{"name": "A", "value": "secret"}}}
	for _, kind := range []string{"Deployment", "ReplicaSet"} {
		u = &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": map[string]any{
			"replicas": int64(2), "template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}, "spec": map[string]any{"containers": []any{container, "junk"}, "volumes": []any{}}},
		}}}
		stripUnreadFields(u)
		kept := []any{map[string]any{"name": "shop", "image": "shop:1"}, map[string]any{"name": "", "image": ""}}
		want := map[string]any{"replicas": int64(2), "template": map[string]any{"spec": map[string]any{"containers": kept}}}
		if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
			t.Errorf("a %s keeps the images of its pods, and nothing else of them: -want, +got:\n%s", kind, diff)
		}
	}
	u = &unstructured.Unstructured{Object: map[string]any{"kind": "Deployment", "spec": "junk"}}
	if stripUnreadFields(u); u.Object["spec"] != "junk" {
		t.Errorf("a Deployment that is malformed: %v", u.Object)
	}
}
