// Package compose turns an order and its trees into the managed resources that should exist.
package compose

import (
	"bytes"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// managerPrefix begins the name of the field manager that Crossplane applies composed resources with.
const managerPrefix = "apiextensions.crossplane.io/composed/"

// crossplanePrefix begins the labels and annotations that Crossplane adds itself.
const crossplanePrefix = "crossplane.io/"

// Retain returns what must be asked for so that an observed composed resource stays as it is: exactly the fields that Crossplane
// applied for us. Less would remove fields, and more would take fields over from their owners. It returns an error for an object
// whose managed fields cannot be read.
func Retain(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	set, err := applied(o)
	if err != nil {
		return nil, err
	}
	v, err := typed.DeducedParseableType.FromUnstructured(candidates(o))
	if err != nil {
		return nil, errors.Wrapf(err, "cannot read %s %q", o.GetKind(), o.GetName())
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if kept, ok := v.ExtractItems(set.Leaves()).AsValue().Unstructured().(map[string]any); ok {
		out.Object = kept
	}
	out.SetGroupVersionKind(o.GroupVersionKind())
	out.SetNamespace(o.GetNamespace())
	return out, nil
}

// candidates are the parts of an object that a composition can ask for.
func candidates(o *unstructured.Unstructured) map[string]any {
	out, metadata := map[string]any{}, map[string]any{}
	if spec, ok := o.Object["spec"]; ok {
		out["spec"] = spec
	}
	if labels := withoutCrossplanes(o.GetLabels()); len(labels) > 0 {
		metadata["labels"] = labels
	}
	if annotations := withoutCrossplanes(o.GetAnnotations()); len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if len(metadata) > 0 {
		out["metadata"] = metadata
	}
	return out
}

// withoutCrossplanes leaves out what Crossplane adds itself.
func withoutCrossplanes(all map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range all {
		if !strings.HasPrefix(key, crossplanePrefix) {
			out[key] = value
		}
	}
	return out
}

func applied(o *unstructured.Unstructured) (*fieldpath.Set, error) {
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
