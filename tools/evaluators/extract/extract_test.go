package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `package a

import (
	"fmt"
	other "example.org/v1"
	"strings"
)

// Limit is a number.
const (
	Limit = 3
	Unused = 4
)

func judge(n int) string {
	for n < 3 {
		switch n {
		case 1:
			return fmt.Sprint(n)
		}
	}
	return "late"
}

func (c *Controller) run() { other.Do() }

func join() string { return strings.Join(nil, "") }
`

func TestExtract(t *testing.T) {
	cases := map[string]struct {
		reason string
		source source
		want   string
		err    string
	}{
		"Declarations": {
			reason: "The declarations of a list are copied, with the imports that they use.",
			source: source{declarations: []string{"Controller.run", "Limit"}, imports: map[string]string{"example.org/v1": "example.org/stub"}},
			want:   "import (\n\tother \"example.org/stub\"\n)\n\nconst Limit = 3\n\nfunc (c *Controller) run() { other.Do() }\n",
		},
		"Statements": {
			reason: "A part of a function becomes a function of its own.",
			source: source{
				declarations: []string{"join"},
				statements:   []statements{{function: "judge", begin: "switch n {", only: true, header: "func part(n int) string {"}},
			},
			want: "import (\n\tfmt \"fmt\"\n\tstrings \"strings\"\n)\n\nfunc part(n int) string {\n\tswitch n {\n\tcase 1:\n\t\treturn " +
				"fmt.Sprint(n)\n\t}\n\n}\n\nfunc join() string { return strings.Join(nil, \"\") }\n",
		},
		"Missing": {
			reason: "A declaration that the file does not have is named.",
			source: source{declarations: []string{"gone"}}, err: "cannot find gone in a.go",
		},
		"MissingStatements": {
			reason: "Statements that the function does not have are named.",
			source: source{declarations: []string{"join"}, statements: []statements{{function: "judge", begin: "select {"}}},
			err:    "cannot find select { in a.go",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tc.source
			s.module, s.file, s.name = "example.org/module", "a.go", "b"
			got, err := s.extract([]byte(sample), "v1.0.0")
			message := ""
			if err != nil {
				message = err.Error()
			}
			want := ""
			if tc.want != "" {
				want = "// Code generated from a.go of example.org/module v1.0.0. DO NOT EDIT.\n\npackage b\n\n" + tc.want
			}
			if diff := cmp.Diff([]string{want, tc.err}, []string{string(got), message}); diff != "" {
				t.Errorf("\n%s\nextract(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
