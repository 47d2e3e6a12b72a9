package function

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestSaid(t *testing.T) {
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"namespace": "a", "name": "b"}, "spec": map[string]any{"size": "1Gi"},
	}}
	cases := map[string]struct {
		reason string
		mark   catalogv1alpha1.IrreversibleKind
		want   []string
	}{
		"Field":   {reason: "What is marked is said.", mark: catalogv1alpha1.IrreversibleKind{Kind: "PersistentVolumeClaim", FieldPaths: []string{"spec.size"}}, want: []string{`PersistentVolumeClaim. a/b spec.size "1Gi"`}},
		"Nowhere": {reason: "A path that leads nowhere says nothing.", mark: catalogv1alpha1.IrreversibleKind{Kind: "PersistentVolumeClaim", FieldPaths: []string{"spec.none", "spec.size.none"}}},
		"Other":   {reason: "Another kind has nothing that is marked.", mark: catalogv1alpha1.IrreversibleKind{Kind: "Secret"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, said(tc.mark, claim)); diff != "" {
				t.Errorf("\n%s\nsaid(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
