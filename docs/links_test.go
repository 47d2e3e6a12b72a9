package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var (
	// link is a link of a page, but for those that have a scheme.
	link = regexp.MustCompile(`\]\(([^)\s:]+)\)`)

	// mention is how code, examples and pages name a page beside links.
	mention = regexp.MustCompile(`\bdocs/[A-Za-z0-9/_-]+\.md(?:#[a-z0-9-]+)?`)

	// heading is a line that has an anchor, and punctuation what anchors leave out.
	heading     = regexp.MustCompile(`^#{1,6} (.+)$`)
	punctuation = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// withoutCode returns the lines of a page that are in no code block.
func withoutCode(page string) []string {
	var out []string
	inside := false
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if !inside && !fence {
			out = append(out, strings.TrimRight(line, "\n"))
		}
		inside = inside != fence
	}
	return out
}

// anchorsOf returns the anchors of a page's headings, as GitHub makes them. A heading that stands there twice has a number the second time.
func anchorsOf(page string) map[string]bool {
	out := map[string]bool{}
	for _, line := range withoutCode(page) {
		found := heading.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		anchor := strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")
		if out[anchor] {
			anchor += "-1"
		}
		out[anchor] = true
	}
	return out
}

// missing returns why a target, which is relative to a directory, leads nowhere. It is empty if the target exists.
func missing(files fs.FS, dir, target string) string {
	name, anchor, _ := strings.Cut(target, "#")
	file := path.Join(dir, name)
	if _, err := fs.Stat(files, file); err != nil {
		return "there is no file " + file
	}
	if anchor == "" {
		return ""
	}
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return err.Error()
	}
	if !anchorsOf(string(b))[anchor] {
		return file + " has no heading #" + anchor
	}
	return ""
}

// brokenLinks returns what is wrong with the links of a file to pages and files.
func brokenLinks(files fs.FS, file string) ([]string, error) {
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	var out []string
	report := func(dir, target string) {
		if why := missing(files, dir, target); why != "" {
			out = append(out, target+": "+why)
		}
	}
	for _, found := range mention.FindAllString(string(b), -1) {
		report(".", found)
	}
	if path.Ext(file) != ".md" {
		return out, nil
	}
	for _, found := range link.FindAllStringSubmatch(strings.Join(withoutCode(string(b)), "\n"), -1) {
		if strings.HasPrefix(found[1], "#") {
			report(path.Dir(file), path.Base(file)+found[1])
			continue
		}
		report(path.Dir(file), found[1])
	}
	return out, nil
}

// linking are the files that may name a page.
var linking = []string{".md", ".go", ".yaml", ".sh"}

// TestLinks finds links that lead nowhere: in pages, and where code and examples name pages.
func TestLinks(t *testing.T) {
	files, n := os.DirFS(".."), 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "_output" || d.Name() == "testdata") {
			return orSkip(err)
		}
		if d.IsDir() || !slices.Contains(linking, path.Ext(name)) || name == "docs/links_test.go" {
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

// orSkip returns an error of a walk, or the one that leaves a directory out.
func orSkip(err error) error {
	if err == nil {
		return fs.SkipDir
	}
	return err
}

func TestBrokenLinks(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		text   string
		want   []string
	}{
		"File":          {reason: "A link to a file that exists is not broken.", file: "docs/a.md", text: "[b](b.md) [c](../c.go)"},
		"Anchor":        {reason: "A link to a heading that exists is not broken.", file: "docs/a.md", text: "[b](b.md#how-it-works-twice)"},
		"Own":           {reason: "A page can link to a heading of its own.", file: "docs/a.md", text: "# Own `word`\n[own](#own-word)"},
		"Address":       {reason: "Addresses of other servers are not looked at.", file: "docs/a.md", text: "[x](https://example.org/a)"},
		"Code":          {reason: "A code block of a page has no links.", file: "docs/a.md", text: "```\n[x](gone.md)\n```"},
		"MissingFile":   {reason: "A link to a file that is gone is broken.", file: "docs/a.md", text: "[x](gone.md)", want: []string{"gone.md: there is no file docs/gone.md"}},
		"MissingAnchor": {reason: "A link to a heading that is gone is broken.", file: "docs/a.md", text: "[x](b.md#gone)", want: []string{"b.md#gone: docs/b.md has no heading #gone"}},
		"CommentAnchor": {reason: "A comment in a code block is not a heading.", file: "docs/a.md", text: "[x](b.md#comment)", want: []string{"b.md#comment: docs/b.md has no heading #comment"}},
		"Mention":       {reason: "A page that Go code names has to exist.", file: "c.go", text: "// See docs/gone.md.", want: []string{"docs/gone.md: there is no file docs/gone.md"}},
		"MentionAnchor": {reason: "A heading that Go code names has to exist.", file: "c.go", text: "// See docs/b.md#gone.", want: []string{"docs/b.md#gone: docs/b.md has no heading #gone"}},
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
