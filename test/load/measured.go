package load

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/gaterecord"
)

// Owners makes the deployments that Gates judge, paused, so that Crossplane composes nothing for them. It returns an error if one is refused.
func (l *Load) Owners(ctx context.Context, keys []types.NamespacedName) error {
	for _, key := range keys {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"expectation": map[string]any{"service": "shop", "sites": []any{key.Namespace}}}}}
		of := claimReference(key)
		o.SetAPIVersion(of.APIGroup + "/v1alpha1")
		o.SetKind(of.Kind)
		o.SetNamespace(key.Namespace)
		o.SetName(key.Name)
		o.SetAnnotations(map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		if err := l.createObjects(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// MeasuredWrites returns how often what Gates of a place measured is written until a channel ends, and of how many deployments. What was written before does
// not count. It returns an error if it cannot be read.
func (l *Load) MeasuredWrites(ctx context.Context, place string, until <-chan struct{}) (writes, deployments int, err error) {
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	return l.countChanges(ctx, all, place, until, func(o client.Object) bool { return o.GetLabels()[gaterecord.LabelRevision] != "" })
}
