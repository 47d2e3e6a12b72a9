package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Extensions of a schema that define how server-side apply merges a list, and their values.
const (
	listTypeExtension    = "x-kubernetes-list-type"
	listMapKeysExtension = "x-kubernetes-list-map-keys"

	listTypeMap = "map"
	listTypeSet = "set"
)

// findDuplicates returns a problem for each item of a list that server-side apply cannot distinguish from an item before it.
func findDuplicates(s *spec.Schema, value any, path string) []Problem {
	var out []Problem
	switch v := value.(type) {
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(v)) {
			if below := fieldSchema(s, field); below != nil {
				out = append(out, findDuplicates(below, v[field], strings.TrimPrefix(path+"."+field, "."))...)
			}
		}
	case []any:
		if s.Items == nil || s.Items.Schema == nil {
			return nil
		}
		out = append(out, findDuplicateItems(s, v, path)...)
		for i, item := range v {
			out = append(out, findDuplicates(s.Items.Schema, item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	return out
}

// fieldSchema returns the schema of a field, or nil.
func fieldSchema(s *spec.Schema, field string) *spec.Schema {
	if below, ok := s.Properties[field]; ok {
		return &below
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema
	}
	return nil
}

// findDuplicateItems returns a problem for each item of one list that has the keys of an item before it.
func findDuplicateItems(s *spec.Schema, items []any, path string) []Problem {
	kind, _ := s.Extensions.GetString(listTypeExtension)
	keys, _ := s.Extensions.GetStringSlice(listMapKeysExtension)
	var out []Problem
	firstIndex := map[string]int{}
	for i, item := range items {
		id, ok := itemIdentity(kind, keys, s.Items.Schema, item)
		first, isDuplicate := firstIndex[id]
		switch {
		case !ok:
		case isDuplicate:
			out = append(out, Problem{Field: fmt.Sprintf("%s[%d]", path, i), Message: describeDuplicate(kind, keys, first), Duplicate: true})
		default:
			firstIndex[id] = i
		}
	}
	return out
}

// itemIdentity returns the identity of an item within its list. It is false for a list that is replaced as a whole, and for an item without a key.
func itemIdentity(kind string, keys []string, item *spec.Schema, value any) (string, bool) {
	fields, isObject := value.(map[string]any)
	switch {
	case kind == listTypeSet && !isObject:
		return fmt.Sprintf("%T %v", value, value), true
	case kind != listTypeMap || !isObject || len(keys) == 0:
		return "", false
	}
	id := []string{}
	for _, key := range keys {
		found := valueOrDefault(fields, key, item)
		if found == nil {
			return "", false
		}
		id = append(id, fmt.Sprintf("%q", fmt.Sprint(found)))
	}
	return strings.Join(id, " "), true
}

// valueOrDefault returns the value of a key, or its default. The schemas of the built-in kinds have no default for the protocol of a port, TCP.
func valueOrDefault(fields map[string]any, key string, item *spec.Schema) any {
	switch {
	case fields[key] != nil:
		return fields[key]
	case item.Properties[key].Default != nil:
		return item.Properties[key].Default
	case key == "protocol":
		return "TCP"
	}
	return nil
}

func describeDuplicate(kind string, keys []string, first int) string {
	if kind == listTypeSet {
		return fmt.Sprintf("equals item %d: server-side apply refuses a set with one item twice", first)
	}
	return fmt.Sprintf("has the %s of item %d: server-side apply refuses a list with one key twice", strings.Join(keys, " and "), first)
}
