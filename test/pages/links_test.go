package pages

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestLinks finds links that lead nowhere: in pages, and where code and examples name pages.
func TestLinks(t *testing.T) {
	files, n := os.DirFS("../.."), 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "_output" || d.Name() == "testdata") {
			return skipUnlessFailed(err)
		}
		if d.IsDir() || !slices.Contains(linking, path.Ext(name)) || name == "test/pages/links_test.go" {
			return nil
		}
		broken, err := brokenLinks(files, name)
		for _, b := range broken {
			t.Errorf("%s: %s", name, b)
		}
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 100 {
		t.Errorf("%d files were read, want at least 100", n)
	}
}

func TestBrokenLinks(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		text   string
		want   []string
	}{
		"File":    {reason: "A link to a file that exists is not broken.", file: "docs/a.md", text: "[b](b.md) [c](../c.go)"},
		"Anchor":  {reason: "A link to a heading that exists is not broken.", file: "docs/a.md", text: "[b](b.md#how-it-works-twice)"},
		"Own":     {reason: "A page can link to a heading of its own.", file: "docs/a.md", text: "# Own `word`\n[own](#own-word)"},
		"Address": {reason: "Addresses of other servers are not looked at.", file: "docs/a.md", text: "[x](https://example.org/a)"},
		"Code":    {reason: "A code block of a page has no links.", file: "docs/a.md", text: "```\n[x](gone.md)\n```"},
		"MissingFile": {
			reason: "A link to a file that is gone is broken.",
			file:   "docs/a.md", text: "[x](gone.md)", want: []string{"gone.md: docs/gone.md does not exist"},
		},
		"MissingAnchor": {
			reason: "A link to a heading that is gone is broken.",
			file:   "docs/a.md", text: "[x](b.md#gone)", want: []string{"b.md#gone: docs/b.md has no heading #gone"},
		},
		"CommentAnchor": {
			reason: "A comment in a code block is not a heading.",
			file:   "docs/a.md", text: "[x](b.md#comment)", want: []string{"b.md#comment: docs/b.md has no heading #comment"},
		},
		"Mention": {
			reason: "A page that Go code names has to exist.",
			file:   "c.go", text: "// See docs/gone.md.", want: []string{"docs/gone.md: docs/gone.md does not exist"},
		},
		"MentionAnchor": {
			reason: "A heading that Go code names has to exist.",
			file:   "c.go", text: "// See docs/b.md#gone.", want: []string{"docs/b.md#gone: docs/b.md has no heading #gone"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{
				"docs/a.md": {Data: nil}, "c.go": {Data: nil},
				"docs/b.md": {Data: []byte("# B\n## How it works: twice\n```sh\n# comment\n```\n")},
			}
			files[tc.file] = &fstest.MapFile{Data: []byte(tc.text)}
			got, err := brokenLinks(files, tc.file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nbrokenLinks(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
