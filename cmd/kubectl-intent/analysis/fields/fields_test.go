package fields

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// tables returns the tables of all schemas.
func tables() map[string][]Field {
	return map[string][]Field{"AnalysisTemplate": AnalysisTemplate(), "MetricTemplate": MetricTemplate(), "Canary": Canary()}
}

// TestTables looks for entries that no field reaches, and for entries without a text.
func TestTables(t *testing.T) {
	for kind, table := range tables() {
		byPath := map[string]Field{}
		for _, f := range table {
			if _, ok := byPath[f.Path]; ok {
				t.Errorf("%s: %s has two entries", kind, f.Path)
			}
			byPath[f.Path] = f
		}
		for _, f := range table {
			for path, parent := range byPath {
				if strings.HasPrefix(f.Path, path+".") && parent.Treatment != Converted {
					t.Errorf("%s: %s is below %s, whose treatment holds for it", kind, f.Path, path)
				}
			}
			if f.Treatment == Noted && f.Text == "" || f.Text != "" && f.Treatment != Noted && f.Treatment != Refused {
				t.Errorf("%s: %s: %s has text %q", kind, f.Path, f.Treatment, f.Text)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	table := slices.Concat(
		fieldsBelow("spec", Converted, "", "", ".list", ".list[].name", ".labels"),
		fieldsBelow("spec.", Refused, "", "other"), fieldsBelow("spec.", Noted, "is left out", "hint"), fieldsBelow("spec.", Meaningless, "", "color"),
	)
	cases := map[string]struct {
		reason, in string
		want       []Difference
	}{
		"Converted": {reason: "A converted field is no difference.", in: "spec: {list: [{name: a}, {name: b}]}"},
		"Map":       {reason: "The keys of a map are free.", in: "spec: {labels: {any: key}}"},
		"Refused": {
			reason: "A refused field is refused once, with all fields below it.",
			in:     "spec: {other: {a: {b: c}}}", want: []Difference{{Path: "spec.other", Treatment: Refused, Text: noCounterpart}},
		},
		"Noted": {
			reason: "A field that is left out is noted.",
			in:     "spec: {hint: true}", want: []Difference{{Path: "spec.hint", Treatment: Noted, Text: "is left out"}},
		},
		"Meaningless": {reason: "A field without meaning is left out.", in: "spec: {color: red}"},
		"Unknown": {
			reason: "A field of an item that the table does not have is refused with its position.",
			in:     "spec: {list: [{name: a}, {size: 3}]}", want: []Difference{{Path: "spec.list[1].size", Treatment: Refused, Text: noCounterpart}},
		},
		"Null":      {reason: "Null is the absence of a field.", in: "spec: {other: null}"},
		"Elsewhere": {reason: "Fields beside the root have another table.", in: "status: {other: 1}"},
		"Empty": {
			reason: "An empty list is a field.",
			in:     "spec: {other: []}", want: []Difference{{Path: "spec.other", Treatment: Refused, Text: noCounterpart}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.in), &object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, Compare(object, "spec", table)); diff != "" {
				t.Errorf("\n%s\nCompare(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
