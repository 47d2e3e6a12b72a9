package pages

import (
	"io/fs"
	"os"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWords finds vague words on all pages but the reference, which has the words of the code.
func TestWords(t *testing.T) {
	files, n := os.DirFS("../.."), 0
	read := func(name string) error {
		b, err := fs.ReadFile(files, name)
		n++
		for _, line := range findVagueLines(string(b)) {
			t.Errorf("%s has a vague word: %s", name, line)
		}
		return err
	}
	err := fs.WalkDir(files, "docs", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" || name == "docs/reference.md" {
			return err
		}
		return read(name)
	})
	if err != nil {
		t.Fatal(err)
	}
	atRoot, err := fs.Glob(files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range atRoot {
		if err := read(name); err != nil {
			t.Fatal(err)
		}
	}
	if n < 50 {
		t.Errorf("%d pages were read, want at least 50", n)
	}
}

func TestVagueLines(t *testing.T) {
	cases := map[string]struct {
		reason string
		page   string
		want   []string
	}{
		"Plain":     {reason: "A sentence with an actor passes.", page: "The provider retries the push."},
		"Vague":     {reason: "A vague word is reported with its line.", page: "Somebody\nmended it", want: []string{"Somebody: Somebody", "mended: mended it"}},
		"Speech":    {reason: "A status that speaks is reported with its line.", page: "It speaks about the spec.", want: []string{"speaks about: It speaks about the spec."}},
		"Part":      {reason: "A vague word as a part of another word passes.", page: "Recommended amendments"},
		"Code":      {reason: "A code block shows the output of programs, so its words are not checked.", page: "```\nnobody\n```"},
		"Generated": {reason: "A generated part has the words of the code, so it is not checked.", page: "<!-- generated: x -->\nnobody\n<!-- end -->"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, findVagueLines(tc.page)); diff != "" {
				t.Errorf("\n%s\nvagueLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
