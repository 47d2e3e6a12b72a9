package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnnotateExamples(t *testing.T) {
	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Plain": {
			reason: "An object gets its group, version and kind, and keeps its comments.",
			in:     "# A Site.\napiVersion: catalog.intentplane.dev/v1alpha1\nkind: Site\nmetadata:\n  name: edge1 # The first one.\n",
			want: "# A Site.\napiVersion: catalog.intentplane.dev/v1alpha1\nkind: Site\nmetadata:\n  name: edge1 # The first one.\n  annotations:\n" +
				"    meta.upbound.io/example-id: catalog.intentplane.dev/v1alpha1/site\n",
		},
		"Annotated": {
			reason: "Other annotations stay, and so does an ID.",
			in:     "apiVersion: a/v1\nkind: B\nmetadata:\n  annotations:\n    c: d\n    meta.upbound.io/example-id: e\n",
			want:   "apiVersion: a/v1\nkind: B\nmetadata:\n  annotations:\n    c: d\n    meta.upbound.io/example-id: e\n",
		},
		"Core": {
			reason: "An object of the core group gets no ID: its kind is not of the package.",
			in:     "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-a\n", want: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-a\n",
		},
		"Two": {
			reason: "Each object of a stream gets an ID.",
			in:     "apiVersion: a/v1\nkind: B\nmetadata:\n  name: c\n---\napiVersion: a/v1\nkind: D\nmetadata:\n  name: e\n",
			want: "apiVersion: a/v1\nkind: B\nmetadata:\n  name: c\n  annotations:\n    meta.upbound.io/example-id: a/v1/b\n---\n" +
				"apiVersion: a/v1\nkind: D\nmetadata:\n  name: e\n  annotations:\n    meta.upbound.io/example-id: a/v1/d\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &strings.Builder{}
			if err := annotateExamples(strings.NewReader(tc.in), out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("\n%s\nannotateExamples(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if err := annotateExamples(strings.NewReader("a: [b"), &strings.Builder{}); err == nil {
		t.Error("Invalid YAML is an error.")
	}
}
