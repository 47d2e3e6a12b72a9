package desired

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change returns the object to apply, or nil if there is nothing to change. It returns the fields that CAPT would ignore, and does
// not write them.
func Change(live, want *unstructured.Unstructured) (*unstructured.Unstructured, []string) {
	if live == nil {
		return want, nil
	}
	if hasDesiredState(live, want) {
		return nil, nil
	}
	begun, _, _ := unstructured.NestedString(live.Object, "spec", "workspaceTemplateApplyName")
	ignored := differingFields(live, want)
	if begun == "" || len(ignored) == 0 && !containsAll(convertToAnyMap(live.GetLabels()), convertToAnyMap(want.GetLabels())) {
		return want, nil // CAPT ignores labels, such as the label of another ManagedCluster of the same composite.
	}
	return nil, ignored
}

// differingFields returns the fields of a spec that differ from the desired ones, and the optional fields that are set and not desired any
// more.
func differingFields(liveObject, wantObject *unstructured.Unstructured) []string {
	live, _, _ := unstructured.NestedMap(liveObject.Object, "spec")
	want, _, _ := unstructured.NestedMap(wantObject.Object, "spec")
	fields := append(slices.Collect(maps.Keys(want)), optionalFields()...)
	slices.Sort(fields)
	var out []string
	for _, field := range slices.Compact(fields) {
		left := slices.Contains(optionalFields(), field) && live[field] != nil && !containsAll(want[field], live[field])
		if left || want[field] != nil && !containsAll(live[field], want[field]) {
			out = append(out, fmt.Sprintf("%s %s: spec.%s", wantObject.GetKind(), wantObject.GetName(), field))
		}
	}
	return out
}

// optionalFields returns the fields of CAPT's objects that only the provider writes.
func optionalFields() []string {
	return []string{"additionalTags", "existingVpcId", "retainVpcOnDelete", "vpcTemplateRef"}
}

// containsAll reports whether an observed value has all that is desired. Fields of other controllers do not matter.
func containsAll(live, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, value := range w {
			if ok = ok && containsAll(l[key], value); !ok {
				return false
			}
		}
		return ok
	case []any:
		l, ok := live.([]any)
		return ok && (containsAllByName(l, w) || slices.EqualFunc(l, w, containsAll))
	}
	// CAPT omits fields that are false.
	return comparableNumber(live) == comparableNumber(want) || live == nil && want == false
}

// containsAllByName compares each desired element with the observed one of its name. There may be others between them, such as the
// variables that a ClusterClass has defaults for.
func containsAllByName(live, want []any) bool {
	for _, w := range want {
		name := elementName(w)
		if i := slices.IndexFunc(live, func(l any) bool { return elementName(l) == name }); name == "" || i < 0 || !containsAll(live[i], w) {
			return false
		}
	}
	return len(want) > 0
}

func elementName(v any) string {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	return name
}

// comparableNumber returns integers as float64, as JSON decodes them.
func comparableNumber(v any) any {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}

// hasDesiredState reports whether an object has the desired labels, annotations and spec.
func hasDesiredState(live, want *unstructured.Unstructured) bool {
	return containsAll(convertToAnyMap(live.GetLabels()), convertToAnyMap(want.GetLabels())) && containsAll(convertToAnyMap(live.GetAnnotations()), convertToAnyMap(want.GetAnnotations())) &&
		containsAll(live.Object["spec"], want.Object["spec"])
}

func convertToAnyMap(m map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range m {
		out[key] = value
	}
	return out
}
