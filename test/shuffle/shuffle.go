// Package shuffle writes values as texts that mean the same, for tests of their readers.
package shuffle

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// WriteJSON returns a value as JSON, which is YAML, with the fields of each object in some order.
func WriteJSON(t *testing.T, value any, random *rand.Rand) string {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		fields := []string{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, Marshal(t, json.Marshal, name)+": "+WriteJSON(t, v[name], random))
		}
		random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		return "{" + strings.Join(fields, ",\n ") + "}"
	case []any:
		items := []string{}
		for _, item := range v {
			items = append(items, WriteJSON(t, item, random))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return Marshal(t, json.Marshal, value)
}

// Marshal returns a value as text, and ends the test if that fails.
func Marshal(t *testing.T, marshal func(any) ([]byte, error), value any) string {
	t.Helper()
	b, err := marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
