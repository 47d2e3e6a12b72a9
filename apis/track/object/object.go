// Package object reads, changes and writes the objects of a rendered workload: the fields of each kind by their paths, the labels of its pods, its selectors,
// and its references to other objects. Numbers and texts that nothing changes keep their form. It is pure, and has no notion of a track.
package object

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/boundedyaml"
)

// GatewayGroup is the API group of the routes.
const GatewayGroup = "gateway.networking.k8s.io"

// An Object names an object of a directory.
type Object struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String returns the kind and the name, as people write them.
func (o Object) String() string {
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// Of returns the names of an object.
func Of(u *unstructured.Unstructured) Object {
	return Object{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// Decode reads the only object of a file. Numbers keep their text, so that Encode writes the same numbers.
func Decode(b []byte) (*unstructured.Unstructured, error) {
	text, err := boundedyaml.ToJSONStrict(b)
	if err != nil {
		return nil, errors.Wrap(err, "cannot decode YAML")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	u := &unstructured.Unstructured{}
	if err := d.Decode(&u.Object); err != nil {
		return nil, errors.Wrap(err, "cannot decode the object")
	}
	if u.GetKind() == "" || u.GetName() == "" {
		return nil, errors.New("is not an object with kind and metadata.name")
	}
	return u, nil
}

// Encode writes an object as kustomize does.
func Encode(u *unstructured.Unstructured) ([]byte, error) {
	b, err := yaml.Marshal(u.Object)
	return b, errors.Wrapf(err, "cannot encode %s", Of(u))
}

// MapAt returns the mapping at a path, which may be changed in place, or nil.
func MapAt(m map[string]any, path ...string) map[string]any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	out, _ := v.(map[string]any)
	return out
}

// ListAt returns the list at a path, whose elements may be changed in place, or nil.
func ListAt(m map[string]any, path ...string) []any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	out, _ := v.([]any)
	return out
}

// MapsOf returns the elements of a list at their places. An element that is not a mapping becomes an empty mapping, which refers to nothing.
func MapsOf(list []any) []map[string]any {
	out := make([]map[string]any, len(list))
	for i := range list {
		out[i], _ = list[i].(map[string]any)
	}
	return out
}

// TextAt returns the text of a field, or "".
func TextAt(m map[string]any, field string) string {
	out, _ := m[field].(string)
	return out
}

// MakeMap returns the mapping at a path, which it makes where it is missing.
func MakeMap(m map[string]any, path ...string) map[string]any {
	for _, field := range path {
		next, ok := m[field].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[field] = next
		}
		m = next
	}
	return m
}

// ParseInteger returns a whole number, or false.
func ParseInteger(v any) (int64, bool) {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case int64:
		return n, true
	}
	return 0, false
}

// Number returns a whole number as Decode returns it.
func Number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
