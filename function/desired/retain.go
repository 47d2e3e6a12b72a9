// Package desired reads the observed composed resources of a call, and returns the desired ones as Crossplane applies them, for each kind of composite.
package desired

import (
	"bytes"
	"maps"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Resource is one composed resource that should exist.
type Resource struct {
	// Object to apply.
	Object *unstructured.Unstructured

	// Ready reports whether the observed resource has its desired state.
	Ready bool
}

// Encode returns the fields to apply of a composed resource. It returns an error if they cannot be encoded.
func Encode(v any) (*unstructured.Unstructured, error) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode")
	}
	delete(m, "status")
	o := &unstructured.Unstructured{Object: m}
	unstructured.RemoveNestedField(o.Object, "metadata", "creationTimestamp")
	return o, nil
}

// managerPrefix begins the name of the field manager that Crossplane applies composed resources with.
const managerPrefix = "apiextensions.crossplane.io/composed/"

// crossplanePrefix begins the labels and annotations that Crossplane adds itself.
const crossplanePrefix = "crossplane.io/"

// Retain returns the desired object that leaves an observed composed resource as it is: exactly the fields that Crossplane
// applied for us. Less would remove fields, and more would take fields over from their owners. It returns an error for an object
// whose managed fields cannot be read.
func Retain(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	set, err := appliedFields(o)
	if err != nil {
		return nil, err
	}
	v, err := typed.DeducedParseableType.FromUnstructured(map[string]any{"spec": o.Object["spec"]})
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read the spec of %s %q", o.GetKind(), o.GetName())
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if fields, ok := v.ExtractItems(set.Leaves()).AsValue().Unstructured().(map[string]any); ok && fields["spec"] != nil {
		out.Object["spec"] = fields["spec"]
	}
	out.SetGroupVersionKind(o.GroupVersionKind())
	out.SetNamespace(o.GetNamespace())
	if labels := appliedEntries(set, "labels", o.GetLabels()); len(labels) > 0 {
		out.SetLabels(labels)
	}
	if annotations := appliedEntries(set, "annotations", o.GetAnnotations()); len(annotations) > 0 {
		out.SetAnnotations(annotations)
	}
	return out, nil
}

// appliedEntries are the labels or annotations in a set, but for Crossplane's own.
func appliedEntries(set *fieldpath.Set, field string, all map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, all)
	maps.DeleteFunc(out, func(key, _ string) bool {
		return strings.HasPrefix(key, crossplanePrefix) || !set.Has(fieldpath.MakePathOrDie("metadata", field, key))
	})
	return out
}

func appliedFields(o *unstructured.Unstructured) (*fieldpath.Set, error) {
	out := fieldpath.NewSet()
	for _, f := range o.GetManagedFields() {
		if f.Operation != metav1.ManagedFieldsOperationApply || !strings.HasPrefix(f.Manager, managerPrefix) || f.FieldsV1 == nil {
			continue
		}
		s := fieldpath.NewSet()
		if err := s.FromJSON(bytes.NewReader(f.FieldsV1.GetRawBytes())); err != nil {
			return nil, errors.Wrapf(err, "cannot read the managed fields of %s %q", o.GetKind(), o.GetName())
		}
		out = out.Union(s)
	}
	return out, nil
}
