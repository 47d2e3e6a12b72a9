package main

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxReconcileToken is the greatest length of a reconcile request that is passed on, in bytes. It is a time, as a rule.
const maxReconcileToken = 128

// passReconcileRequest passes the request of a user to reconcile a composite on to all of its composed resources: a user with the right to annotate the
// composite may lack it for those.
func passReconcileRequest(req *fnv1.RunFunctionRequest, r *reply) {
	token := reconcileToken(req)
	if token == "" || len(token) > maxReconcileToken {
		return
	}
	for name, resource := range r.resources {
		resource.Object = withAnnotation(resource.Object, meta.AnnotationKeyReconcileRequestedAt, token)
		r.resources[name] = resource
	}
}

// reconcileToken returns the annotation by which a user requests an immediate reconcile of the composite, or "".
func reconcileToken(req *fnv1.RunFunctionRequest) string {
	metadata := req.GetObserved().GetComposite().GetResource().GetFields()["metadata"].GetStructValue()
	return metadata.GetFields()["annotations"].GetStructValue().GetFields()[meta.AnnotationKeyReconcileRequestedAt].GetStringValue()
}

// withAnnotation returns an object with an annotation. It shares all other fields with the given object, which may be large, and is not changed.
func withAnnotation(o *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	metadata := cloneFields(o.Object["metadata"])
	annotations := cloneFields(metadata["annotations"])
	annotations[key] = value
	metadata["annotations"] = annotations
	out := &unstructured.Unstructured{Object: maps.Clone(o.Object)}
	out.Object["metadata"] = metadata
	return out
}

// cloneFields returns a copy of the fields of an object, which has none where it is not an object.
func cloneFields(object any) map[string]any {
	if fields, ok := object.(map[string]any); ok {
		return maps.Clone(fields)
	}
	return map[string]any{}
}
