package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

func TestEncodeObjects(t *testing.T) {
	cases := map[string]struct {
		reason string
		values string
		plain  bool
	}{
		"Plain": {reason: "Values that most objects hold are written directly.", values: "{a: b, c: [1, -2, true, null, {}, []], d: {e: ''}}", plain: true},
		"Order": {reason: "Keys are sorted, with their numbers.", values: "{b10: 1, b9: 2, a: 3, B: 4, a.b/c: 5}", plain: true},
		"Quoted": {
			reason: "A text that looks like another type is quoted.",
			values: `{a: "1", b: 'true', c: "null", d: "yes", e: "1e3", f: "0x1", g: "2001-01-01", h: "~", i: "1:30", j: " x "}`, plain: true,
		},
		"OldBoolean": {reason: "A boolean of older YAML is a text.", values: "{a: yes, b: off, c: y, on: 1}", plain: true},
		"Integers": {
			reason: "Numbers are written in one way.",
			values: "{a: 0x1F, b: 0o17, c: 017, d: +1, e: -0, f: 9223372036854775807, g: 18446744073709551615, h: 1_000, i: 0b11}", plain: true,
		},
		"Keys": {reason: "Keys are quoted as values are.", values: `{"1": a, "true": b, "null": c, "<<": d, "": e}`, plain: true},
		"Characters": {
			reason: "Signs that mean something are quoted.",
			values: `{a: "{b}", c: "[d", e: "*f", g: "&h", i: "!j", k: "%l", m: "@n", o: "# p", q: "r: s", t: "- u", v: "| w", x: "? y", z: "'\""}`,
			plain:  true,
		},
		"Long": {
			reason: "A long text is folded, or not, in the same way.",
			values: "{a: '" + strings.Repeat("word ", 100) + "', b: " + strings.Repeat("x", 300) + "}", plain: true,
		},
		"Float":      {reason: "Floats become whole numbers where they are.", values: "{a: 1.0, b: 1e6, c: 0.1, d: 1e21}"},
		"Infinite":   {reason: "An infinite number, which JSON lacks, goes through kustomize's own encoder.", values: "{a: .inf}"},
		"Timestamp":  {reason: "A date is a text in JSON.", values: "{a: 2001-01-01}"},
		"Binary":     {reason: "A binary value goes through kustomize's own encoder.", values: "{a: !!binary aGVsbG8=}"},
		"Lines":      {reason: "A text of several lines goes through kustomize's own encoder.", values: "{a: \"b\\nc\\n\"}"},
		"Letters":    {reason: "A text with characters beyond ASCII goes through kustomize's own encoder.", values: `{a: "é"}`},
		"Controls":   {reason: "A text with control characters goes through kustomize's own encoder.", values: `{a: "\0", b: "\t"}`},
		"Delete":     {reason: "JSON takes a character that YAML refuses.", values: `{a: "\x7f"}`},
		"Literal":    {reason: "A literal block goes through kustomize's own encoder.", values: "\n  a: |-\n    b"},
		"Folded":     {reason: "A folded text goes through kustomize's own encoder.", values: "\n  a: >-\n    b\n    c"},
		"Named":      {reason: "A value that could stand at two places.", values: "{a: &x b}"},
		"Tagged":     {reason: "A tag of the Blueprint goes through kustomize's own encoder.", values: "{a: !b c}"},
		"TaggedText": {reason: "A number that is said to be a text.", values: "{a: !!str 1}"},
		"Anchor":     {reason: "A value that stands at two places.", values: "{a: &x {b: c}, d: *x}"},
		"NumberKey":  {reason: "A key that is a number.", values: "{1: a}"},
		"Empty":      {reason: "A value that is not there is null.", values: "{a: , b}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := objectOf(t, "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: "+tc.values)
			if got := isPlainNode(o.YNode()); got != tc.plain {
				t.Errorf("\n%s\nplain(...): want %t, got %t", tc.reason, tc.plain, got)
			}
			sameBytes(t, tc.reason, o)
		})
	}
}

// TestEncodeExamples: the values of our examples are written as kustomize writes them, and nearly all of them are plain.
func TestEncodeExamples(t *testing.T) {
	found, all := 0, 0
	for _, o := range exampleObjects(t) {
		sameBytes(t, "Examples are written as kustomize writes them.", o)
		if all++; isPlainNode(o.YNode()) {
			found++
		}
	}
	if found == 0 || found == all {
		t.Errorf("plain(...): got %d of %d objects: want some, and others", found, all)
	}
}

func FuzzEncode(f *testing.F) {
	for _, s := range []string{"{a: b, c: [1, true, null]}", "{a: 0x1F, yes: off}", `{"1": "é"}`, "{a: |\n b\n}", "[<<, ~, 1.0]", "{a: '" + strings.Repeat("x ", 90) + "'}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, values string) {
		n, err := yaml.Parse("apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: " + values)
		if err != nil || n.YNode().Kind != yaml.MappingNode {
			return
		}
		sameBytes(t, "Whatever is plain.", &resource.Resource{RNode: *n})
	})
}

func sameBytes(t *testing.T, reason string, o *resource.Resource) {
	t.Helper()
	want, wantErr := o.AsYAML()
	got, err := encodeObject(o)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("\n%s\nencode(...): want error %v, got %v", reason, wantErr, err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("\n%s\nencode(...): -want, +got:\n%s", reason, diff)
	}
}

func objectOf(t *testing.T, text string) *resource.Resource {
	t.Helper()
	n, err := yaml.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &resource.Resource{RNode: *n}
}

// exampleObjects are those in the files of our examples.
func exampleObjects(t *testing.T) []*resource.Resource {
	t.Helper()
	out := []*resource.Resource{}
	err := filepath.WalkDir("../../examples", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// Files that hold no objects are none of ours.
		found, _ := provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes(b)
		out = append(out, found...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
