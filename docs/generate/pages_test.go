package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestPages compares what is generated with the code.
func TestPages(t *testing.T) {
	all, err := renderPages(root)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range all {
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: run make generate: -want, +got:\n%s", file, diff)
		}
	}
}

func TestFill(t *testing.T) {
	type want struct {
		text  string
		used  []string
		fails bool
	}
	cases := map[string]struct {
		reason string
		page   string
		want   want
	}{
		"Nothing": {reason: "A page without marks is not changed.", page: "a\n", want: want{text: "a\n"}},
		"Empty": {
			reason: "A part comes between its marks.",
			page:   "a\n<!-- generated: x -->\n<!-- end -->\nb\n", want: want{text: "a\n<!-- generated: x -->\nX\n<!-- end -->\nb\n", used: []string{"x"}},
		},
		"Stale": {
			reason: "The previous content of a part is replaced, and the text beside the part stays.",
			page:   "<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\n<!-- end -->\nc\n",
			want:   want{text: "<!-- generated: x -->\nX\n<!-- end -->\nb\n<!-- generated: y -->\nY\n<!-- end -->\nc\n", used: []string{"x", "y"}},
		},
		"Unknown": {reason: "A name that no generator has is a mistake.", page: "<!-- generated: z -->\n<!-- end -->\n", want: want{fails: true}},
		"Endless": {reason: "A part without an end is a mistake.", page: "<!-- generated: x -->\n", want: want{fails: true}},
		"Nested": {
			reason: "The end of the next part does not end this part.",
			page:   "<!-- generated: x -->\nb\n<!-- generated: y -->\n<!-- end -->\n", want: want{fails: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, used, err := fillPageParts(tc.page, map[string]string{"x": "X\n", "y": "Y\n"})
			got := want{text: text, used: used, fails: err != nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nfill(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}
