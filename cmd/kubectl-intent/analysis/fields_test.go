package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// tables returns the tables of all schemas.
func tables() map[string][]Field {
	return map[string][]Field{"AnalysisTemplate": ArgoFields(), "MetricTemplate": MetricTemplateFields(), "Canary": CanaryFields()}
}

// TestFieldTables looks for entries that no field reaches, or that say nothing.
func TestFieldTables(t *testing.T) {
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

func TestApplyFields(t *testing.T) {
	table := slices.Concat(
		fieldsBelow("spec", Converted, "", "", ".list", ".list[].name", ".labels"),
		fieldsBelow("spec.", Refused, "", "other"), fieldsBelow("spec.", Noted, "is left out", "hint"), fieldsBelow("spec.", Meaningless, "", "color"),
	)
	type want struct {
		problems, notes []string
	}
	cases := map[string]struct {
		reason, in string
		want       want
	}{
		"Converted": {reason: "A field that is converted is read elsewhere.", in: "spec: {list: [{name: a}, {name: b}]}"},
		"Map":       {reason: "The keys of a map are free.", in: "spec: {labels: {any: key}}"},
		"Refused": {
			reason: "A field that is refused is refused with all below it.",
			in:     "spec: {other: {a: {b: c}}}", want: want{problems: []string{"spec.other: has no counterpart in a check"}},
		},
		"Noted":       {reason: "A field that is left out is noted.", in: "spec: {hint: true}", want: want{notes: []string{"Thing a: spec.hint: is left out"}}},
		"Meaningless": {reason: "A field without meaning is left out.", in: "spec: {color: red}"},
		"Unknown": {
			reason: "A field of an item that the table does not have is refused with its position.",
			in:     "spec: {list: [{name: a}, {size: 3}]}", want: want{problems: []string{"spec.list[1].size: has no counterpart in a check"}},
		},
		"Null":      {reason: "Null is the absence of a field.", in: "spec: {other: null}"},
		"Elsewhere": {reason: "Fields beside the root have another table.", in: "status: {other: 1}"},
		"Empty":     {reason: "An empty list is a field.", in: "spec: {other: []}", want: want{problems: []string{"spec.other: has no counterpart in a check"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := map[string]any{}
			if err := yaml.Unmarshal([]byte(tc.in), &object); err != nil {
				t.Fatal(err)
			}
			c := newConverter(Options{})
			c.object = "Thing a"
			c.applyFields(object, "spec", table)
			got := want{notes: c.out.Notes}
			for _, p := range c.problems {
				got.problems = append(got.problems, p.Field+": "+p.Message)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\napplyFields(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
