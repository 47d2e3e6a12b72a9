package typed

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewScript(t *testing.T) {
	cases := map[string]struct {
		reason string
		block  Block
		values map[string]string
		want   Script
	}{
		"Value": {
			reason: "A value that a reader replaces is replaced, and others stay.",
			block:  Block{Page: "p.md", Line: 1, Language: Shell, Text: "export A=b  # yours\nexport C=d\n"},
			values: map[string]string{"A": "x/y"},
			want:   Script{Text: "set -euo pipefail\n" + look + "echo '@@ typed p.md:1'\nexport A=x/y  # yours\nexport C=d\n\n", Typed: 1},
		},
		"Console": {
			reason: "Of a console the commands alone are typed.",
			block:  Block{Page: "p.md", Line: 1, Language: Console, Text: "$ ls\na\n$ pwd\n"},
			want:   Script{Text: "set -euo pipefail\n" + look + "echo '@@ typed p.md:1'\nls\npwd\n\n", Typed: 1},
		},
		"Documents": {
			reason: "Each document of YAML is looked at by itself.",
			block:  Block{Page: "p.md", Line: 1, Language: YAML, Text: "a: b\n---\nc: d\n"},
			want: Script{
				Text:  "set -euo pipefail\n" + look + "echo '@@ typed p.md:1'\nlook <<'END-OF-BLOCK'\na: b\nEND-OF-BLOCK\nlook <<'END-OF-BLOCK'\nc: d\nEND-OF-BLOCK\n\n",
				Typed: 1,
			},
		},
		"Applied": {
			reason: "YAML with a mark is applied for good.",
			block:  Block{Page: "p.md", Line: 1, Language: YAML, Text: "a: b\n", Apply: true},
			want: Script{
				Text: "set -euo pipefail\n" + look + "echo '@@ typed p.md:1'\nkubectl apply --validate=strict -f - <<'END-OF-BLOCK'\na: b\nEND-OF-BLOCK\n\n", Typed: 1,
			},
		},
		"Skipped": {
			reason: "A block with a mark is counted and not typed.",
			block:  Block{Page: "p.md", Line: 1, Language: Shell, Text: "ls\n", Skip: "why"},
			want:   Script{Text: "set -euo pipefail\n" + look, Skipped: 1},
		},
		"Drawing": {
			reason: "A drawing is neither typed nor counted.",
			block:  Block{Page: "p.md", Line: 1, Text: "a\n"},
			want:   Script{Text: "set -euo pipefail\n" + look},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, NewScript([]Block{tc.block}, tc.values)); diff != "" {
				t.Errorf("\n%s\nNewScript(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOutputs(t *testing.T) {
	cases := map[string]struct {
		reason string
		output string
		want   map[string]string
	}{
		"None": {reason: "Output before the first block belongs to no block.", output: "x\n", want: map[string]string{}},
		"Two": {
			reason: "Each block has the lines up to the next block.", output: "x\n@@ typed p.md:1\na\nb\n@@ typed p.md:9\n",
			want: map[string]string{"p.md:1": "a\nb\n", "p.md:9": ""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Outputs(tc.output)); diff != "" {
				t.Errorf("\n%s\nOutputs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLast(t *testing.T) {
	cases := map[string]struct {
		reason string
		output string
		want   string
	}{
		"None": {reason: "A script that printed nothing came to no block.", want: "the beginning"},
		"Last": {reason: "The last block that began is the failed block.", output: "@@ typed p.md:1\nx\n@@ typed p.md:9\ny\n", want: "p.md:9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Last(tc.output)); diff != "" {
				t.Errorf("\n%s\nLast(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
