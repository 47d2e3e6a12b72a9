package object

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodLabels returns the labels of the pods that an object makes or is, or false for an object without pods.
func PodLabels(u *unstructured.Unstructured) (labels.Set, bool) {
	paths := map[string][]string{
		"Deployment": {"spec", "template"}, "StatefulSet": {"spec", "template"}, "DaemonSet": {"spec", "template"},
		"ReplicaSet": {"spec", "template"}, "Job": {"spec", "template"}, "CronJob": {"spec", "jobTemplate", "spec", "template"}, "Pod": {},
	}
	path, ok := paths[u.GetKind()]
	if !ok {
		return nil, false
	}
	found, _, _ := unstructured.NestedStringMap(u.Object, append(slices.Clone(path), "metadata", "labels")...)
	return found, true
}

// SelectorAt returns the label selector at a path. A missing selector selects nothing.
func SelectorAt(m map[string]any, path ...string) (labels.Selector, error) {
	found := MapAt(m, path...)
	if found == nil {
		return labels.Nothing(), nil
	}
	s := &metav1.LabelSelector{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found, s); err != nil {
		return nil, errors.New("cannot be read")
	}
	return metav1.LabelSelectorAsSelector(s)
}

// IsLabelSelector reports whether a mapping has the form of Kubernetes' label selectors, and selects something.
func IsLabelSelector(m map[string]any) bool {
	return MapAt(m, "matchLabels") != nil || ListAt(m, "matchExpressions") != nil
}

// IsLabelField reports whether the texts of a field are labels or describe the object itself, and so refer to nothing.
func IsLabelField(field string) bool {
	return slices.Contains([]string{
		"metadata", "labels", "matchLabels", "matchExpressions", "selector", "labelSelector", "namespaceSelector", "nodeSelector", "podSelector",
	}, field)
}
