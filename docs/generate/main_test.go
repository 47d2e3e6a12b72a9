package main

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var root = filepath.Join("..", "..")

// TestPages compares what is generated with the code.
func TestPages(t *testing.T) {
	all, err := pages(root)
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

func TestParts(t *testing.T) {
	all, err := parts(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, say := range map[string]string{
		"phases of IntentDeployment":   "| the spec cannot be carried out | `Failed` | `Failed` |",
		"changes of IntentDeployment":  "| `Failed` | `RollingBack` |",
		"phases of WorkloadCluster":    "| the provider has not observed the cluster yet | `Pending` |",
		"changes of WorkloadCluster":   "| `Provisioned` | `Degraded`, `Deleting` |",
		"conditions of Gate":           "| `Measuring` | ",
		"conditions of RolloutRequest": "| result | |",
		"events":                       "| `PhaseTransition` | ",
		"metrics":                      "| `intentdeployment_phase_transitions_total` | counter | `from`, `to` | ",
	} {
		if !strings.Contains(all[name], say) {
			t.Errorf("%s do not have %s:\n%s", name, say, all[name])
		}
	}
	for name, part := range all {
		for line := range strings.SplitSeq(part, "\n") {
			if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "| |") && !strings.HasPrefix(name, "phases") {
				t.Errorf("%s say nothing about %s", name, line)
			}
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
			reason: "What was there goes, and what is beside it stays.",
			page:   "<!-- generated: x -->\nold\n<!-- end -->\nb\n<!-- generated: y -->\n<!-- end -->\nc\n",
			want:   want{text: "<!-- generated: x -->\nX\n<!-- end -->\nb\n<!-- generated: y -->\nY\n<!-- end -->\nc\n", used: []string{"x", "y"}},
		},
		"Unknown": {reason: "A name that nobody knows is a mistake.", page: "<!-- generated: z -->\n<!-- end -->\n", want: want{fails: true}},
		"Endless": {reason: "So is a part without an end.", page: "<!-- generated: x -->\n", want: want{fails: true}},
		"Nested": {
			reason: "The end of the next part is not that of this one.",
			page:   "<!-- generated: x -->\nb\n<!-- generated: y -->\n<!-- end -->\n", want: want{fails: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, used, err := fill(tc.page, map[string]string{"x": "X\n", "y": "Y\n"})
			got := want{text: text, used: used, fails: err != nil}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nfill(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}

var (
	explaining = regexp.MustCompile(`^\| (reason|type|condition) \|`)
	word       = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
)

// TestExplained holds for the pages that are written by hand, since they say what to do: what their tables explain is something that the code
// says, and of what conditions say all is explained on some page beside the reference.
func TestExplained(t *testing.T) {
	known, all := literals(t), handwritten(t)
	n := 0
	for file, text := range all {
		explains := false
		for line := range strings.SplitSeq(text, "\n") {
			explains = strings.HasPrefix(line, "|") && (explains || explaining.MatchString(line))
			if !explains {
				continue
			}
			for _, w := range word.FindAllStringSubmatch(strings.Split(line, "|")[1], -1) {
				n++
				if !known[w[1]] {
					t.Errorf("%s explains %s, which nothing says", file, w[1])
				}
			}
		}
	}
	said, err := constants(root, "apis")
	if err != nil {
		t.Fatal(err)
	}
	pages := strings.Join(slices.Collect(maps.Values(all)), "\n")
	for _, c := range said {
		if !strings.Contains(pages, "`"+c.value+"`") {
			t.Errorf("no page explains %s of %s", c.value, c.file)
		}
	}
	t.Logf("%d types and reasons in tables, and %d that conditions have", n, len(said))
}

// literals are all strings in the code.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"apis", "function", "provider"} {
		err := eachFile(root, dir, func(_ string, f *ast.File) error {
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					out[strings.Trim(l.Value, "\"`")] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// handwritten are the pages beside the reference.
func handwritten(t *testing.T) map[string]string {
	t.Helper()
	all, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	delete(all, filepath.Join(root, "docs", "reference.md"))
	return all
}
