package document

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromYAML(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   any
		err    string
	}{
		"Values": {
			reason: "Values are the values of JSON.",
			text:   "a: x\nb: 1.5\nc: true\nd: null\ne: [1]\nf: 'yes'\ng: yes\n",
			want: []Member{
				member("a", "x"), member("b", json.Number("1.5")), member("c", true), member("d", nil),
				member("e", []Node{{Path: "e[0]", Value: json.Number("1")}}), member("f", "yes"), member("g", "yes"),
			},
		},
		"Bomb": {
			reason: "A document that grows when it is read is refused before it grows.",
			text:   "a: &a [x, x]\nb: [*a, *a]\n",
			err:    "spec.intent: line 1, column 4: a: must not have an anchor",
		},
		"Hexadecimal": {
			reason: "A number is written in one way.",
			text:   "a: 0x10\n",
			err:    `spec.intent: line 1, column 4: a: must be text in quotes or a decimal number, not "0x10"`,
		},
		"Date": {
			reason: "A text that YAML takes for a date is refused.",
			text:   "a: 2026-01-01\n",
			err:    `spec.intent: line 1, column 4: a: must be text in quotes or a decimal number, not "2026-01-01"`,
		},
		"NumberAsKey": {
			reason: "A field has a name.",
			text:   "1: a\n",
			err:    "spec.intent: line 1, column 1: 1: must be named by text",
		},
		"ListAsKey": {
			reason: "A field whose name is a list is refused.",
			text:   "? [a]\n: b\n",
			err:    `spec.intent: line 1, column 3: "": must be named by text`,
		},
		"TooDeep": {
			reason: "A document that nests too deep is refused.",
			text:   strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
			err:    "spec.intent: line 1, column 10: [0][0][0][0][0][0][0][0][0]: must not nest deeper than 8",
		},
		"Nothing": {
			reason: "A text of comments only is refused.",
			text:   "# a\n",
			err:    "spec.intent: is not valid YAML",
		},
		"Encoding": {
			reason: "Text that is not valid UTF-8 is refused.",
			text:   "a: \xff",
			err:    "spec.intent: must be valid UTF-8",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, err := FromYAML(tc.text)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("\n%s\nFromYAML(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, d.Root.Value); diff != "" {
				t.Errorf("\n%s\nFromYAML(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
