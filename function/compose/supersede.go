package compose

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// Supersede returns a retained GitDelivery with a mark that it is not composed again when it is gone.
func Supersede(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	meta.AddAnnotations(out, map[string]string{deliveryv1alpha1.AnnotationSuperseded: "true"})
	return out
}
