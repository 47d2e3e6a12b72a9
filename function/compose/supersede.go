package compose

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// Supersede returns a retained GitDelivery with a mark that it is not composed again when it is gone.
func Supersede(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[deliveryv1alpha1.AnnotationSuperseded] = "true"
	out.SetAnnotations(annotations)
	return out
}
