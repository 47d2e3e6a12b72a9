package compose

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestSupersede marks a delivery, with and without other annotations.
func TestSupersede(t *testing.T) {
	for _, annotations := range []map[string]string{nil, {"example.org/a": "b"}} {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetAnnotations(annotations)
		want := map[string]string{deliveryv1alpha1.AnnotationSuperseded: "true"}
		maps.Copy(want, annotations)
		if diff := cmp.Diff(want, Supersede(o).GetAnnotations()); diff != "" {
			t.Errorf("\nA retained delivery gets a mark, and keeps its annotations.\nSupersede(...): -want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(annotations, o.GetAnnotations()); diff != "" {
			t.Errorf("\nThe marked object is a copy.\nSupersede(...): -before, +after:\n%s", diff)
		}
	}
}
