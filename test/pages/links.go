// Package pages checks the pages of docs: that their links lead somewhere, that the names in them exist in the code, that their alerts can
// work, and that their words are plain.
package pages

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	// link is a link of a page without a scheme.
	link = regexp.MustCompile(`\]\(([^)\s:]+)\)`)

	// mention is how code, examples and pages name a page beside links.
	mention = regexp.MustCompile(`\bdocs/[A-Za-z0-9/_-]+\.md(?:#[a-z0-9-]+)?`)

	// heading is a line that has an anchor, and punctuation matches characters that anchors leave out.
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

// anchorsOfPage returns the anchors of a page's headings, as GitHub makes them. A heading that stands there twice has a number the second time.
func anchorsOfPage(page string) map[string]bool {
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

// missingReason returns why a target, which is relative to a directory, leads nowhere. It is empty if the target exists.
func missingReason(files fs.FS, dir, target string) string {
	name, anchor, _ := strings.Cut(target, "#")
	file := path.Join(dir, name)
	if _, err := fs.Stat(files, file); err != nil {
		return file + " does not exist"
	}
	if anchor == "" {
		return ""
	}
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return err.Error()
	}
	if !anchorsOfPage(string(b))[anchor] {
		return file + " has no heading #" + anchor
	}
	return ""
}

// brokenLinks returns the errors of a file's links to pages and files.
func brokenLinks(files fs.FS, file string) ([]string, error) {
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	var out []string
	report := func(dir, target string) {
		if reason := missingReason(files, dir, target); reason != "" {
			out = append(out, target+": "+reason)
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

// skipUnlessFailed returns the error of a walk, or the error that leaves a directory out.
func skipUnlessFailed(err error) error {
	if err == nil {
		return fs.SkipDir
	}
	return err
}
