package track

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

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

func objectOf(u *unstructured.Unstructured) Object {
	return Object{Group: u.GroupVersionKind().Group, Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}
}

// decodeObject reads the only object of a file. Numbers keep their text, so that encodeObject writes the same numbers.
func decodeObject(b []byte) (*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(b)
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

// encodeObject writes an object as kustomize does.
func encodeObject(u *unstructured.Unstructured) ([]byte, error) {
	b, err := yaml.Marshal(u.Object)
	return b, errors.Wrapf(err, "cannot encode %s", objectOf(u))
}

// mapAt returns the mapping at a path, which may be changed in place, or nil.
func mapAt(m map[string]any, path ...string) map[string]any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	out, _ := v.(map[string]any)
	return out
}

// listAt returns the list at a path, whose elements may be changed in place, or nil.
func listAt(m map[string]any, path ...string) []any {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	out, _ := v.([]any)
	return out
}

// textAt returns the text of a field, or "".
func textAt(m map[string]any, field string) string {
	out, _ := m[field].(string)
	return out
}

// makeMap returns the mapping at a path, which it makes where it is missing.
func makeMap(m map[string]any, path ...string) map[string]any {
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

// parseInteger returns a whole number, or false.
func parseInteger(v any) (int64, bool) {
	switch n := v.(type) {
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	case int64:
		return n, true
	}
	return 0, false
}

func jsonNumber(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
