package typed

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page joins lines, in which ”' is a fence.
func page(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "'''", "```")
}

func TestBlocks(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []Block
		err    bool
	}{
		"Shell": {
			reason: "A block of shell is typed, and belongs to the section that it is in.",
			text:   page("# A", "## B", "'''sh", "ls", "'''"),
			want:   []Block{{Page: "p.md", Line: 3, Section: "B", Language: Shell, Text: "ls\n"}},
		},
		"InList": {
			reason: "A block in a list is typed without its indentation.",
			text:   page("1. A", "", "   '''sh", "   ls", "   '''"),
			want:   []Block{{Page: "p.md", Line: 3, Language: Shell, Text: "ls\n"}},
		},
		"Applied": {
			reason: "A mark makes YAML be applied for good.",
			text:   page("<!-- typed: apply -->", "'''yaml", "a: b", "'''"),
			want:   []Block{{Page: "p.md", Line: 2, Language: YAML, Text: "a: b\n", Apply: true}},
		},
		"Skipped": {
			reason: "A mark with a reason lets a block be of any language.",
			text:   page("<!-- typed: no, it is a part of a file -->", "'''promql", "up", "'''"),
			want:   []Block{{Page: "p.md", Line: 2, Language: "promql", Text: "up\n", Skip: "it is a part of a file"}},
		},
		"Drawing": {
			reason: "A block without language shows something.",
			text:   page("'''", "a --> b", "'''"),
			want:   []Block{{Page: "p.md", Line: 1, Text: "a --> b\n"}},
		},
		"Text": {
			reason: "A block of text shows something.",
			text:   page("'''text", "a commit", "'''"),
			want:   []Block{{Page: "p.md", Line: 1, Language: Text, Text: "a commit\n"}},
		},
		"SkippedWithoutReason": {reason: "A mark without a reason is refused.", text: page("<!-- typed: no -->", "'''sh", "ls", "'''"), err: true},
		"MarkOfNothing":        {reason: "A mark that no block follows is refused.", text: page("<!-- typed: no, why -->", "text"), err: true},
		"MarkAtTheEnd":         {reason: "A mark at the end of a page is refused.", text: "<!-- typed: no, why -->", err: true},
		"UnknownLanguage":      {reason: "A block that cannot be typed has to say why.", text: page("'''promql", "up", "'''"), err: true},
		"ConsoleWithoutName": {
			reason: "Commands in a block without language are refused, since they would not be typed.",
			text:   page("'''", "$ ls", "'''"), err: true,
		},
		"AppliedShell": {reason: "Only YAML can be applied.", text: page("<!-- typed: apply -->", "'''sh", "ls", "'''"), err: true},
		"Unclosed":     {reason: "A block without an end is refused.", text: page("'''sh", "ls"), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Blocks("p.md", tc.text)
			if diff := cmp.Diff(tc.err, err != nil); diff != "" {
				t.Fatalf("\n%s\nBlocks(...): -want error, +got error:\n%s\n%v", tc.reason, diff, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nBlocks(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPages(t *testing.T) {
	for _, page := range Pages() {
		t.Run(page, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("..", "..", page))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Blocks(page, string(b)); err != nil {
				t.Errorf("Each block of a page can be typed, or says why not: %v", err)
			}
		})
	}
}

// TestOperationsAreTyped finds the pages of docs/operations that no test types, and pages that were removed.
func TestOperationsAreTyped(t *testing.T) {
	const dir = "docs/operations/"
	files, err := os.ReadDir(filepath.Join("..", "..", dir))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, f := range files {
		want = append(want, dir+f.Name())
	}
	got := slices.DeleteFunc(Pages(), func(page string) bool { return !strings.HasPrefix(page, dir) })
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Each page of %s is typed: -files, +Pages():\n%s", dir, diff)
	}
}
