package desired

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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

// Observe returns a decoded observed composed resource, or nil if there is none of that name. It returns an error for an unreadable resource.
func Observe[T any](observed map[string]*unstructured.Unstructured, name string) (*T, error) {
	u, ok := observed[name]
	if !ok {
		return nil, nil //nolint:nilnil // There is none yet.
	}
	out := new(T)
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out)
	return out, errors.Wrapf(err, "cannot read composed resource %q", name)
}

// SetReady says of a resource that should exist whether it has its desired state.
func SetReady(all map[string]Resource, name string, isReady bool) {
	if r, ok := all[name]; ok {
		r.Ready = isReady
		all[name] = r
	}
}
