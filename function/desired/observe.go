package desired

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// RetainAll desires each observed composed resource as it is, by its name in the composition, so that a call which returns early removes nothing. It returns an
// error for an unreadable resource.
func RetainAll(observed map[string]*unstructured.Unstructured) (map[string]Resource, error) {
	out := map[string]Resource{}
	for name, u := range observed {
		object, err := Retain(u)
		if err != nil {
			return nil, err
		}
		out[name] = Resource{Object: object}
	}
	return out, nil
}

// Observe returns a decoded observed composed resource, or nil if no resource has that name. It returns an error for an unreadable resource.
func Observe[T any](observed map[string]*unstructured.Unstructured, name string) (*T, error) {
	u, ok := observed[name]
	if !ok {
		return nil, nil //nolint:nilnil // There is none yet.
	}
	out := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out)
	return out, errors.Wrapf(err, "cannot read composed resource %q", name)
}

// SetReady sets whether a desired resource has its desired state.
func SetReady(all map[string]Resource, name string, isReady bool) {
	if r, ok := all[name]; ok {
		r.Ready = isReady
		all[name] = r
	}
}

// ChangedAt returns when something other than the status of an object was written last, as the API server notes it in managedFields.
func ChangedAt(o *unstructured.Unstructured) time.Time {
	var last time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// ObservedGeneration returns the newest observedGeneration of an object's conditions.
func ObservedGeneration(o *unstructured.Unstructured) int64 {
	var conditions []metav1.Condition
	if err := fieldpath.Pave(o.Object).GetValueInto("status.conditions", &conditions); err != nil {
		return 0
	}
	var newest int64
	for _, c := range conditions {
		newest = max(newest, c.ObservedGeneration)
	}
	return newest
}
