package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// begin marks where a part of a page is generated, before its name, and end is where it ends.
	begin = "<!-- generated: "
	end   = "<!-- end -->"
)

// renderPages returns the pages of a project's documentation, by their files, with all parts generated again. It returns an error for an unknown
// mark, and for a part without a page.
func renderPages(root string) (map[string]string, error) {
	all, err := renderParts(root)
	if err != nil {
		return nil, err
	}
	files, err := listPageFiles(filepath.Join(root, "docs"))
	if err != nil {
		return nil, err
	}
	out, missing := map[string]string{}, maps.Clone(all)
	for _, file := range files {
		b, err := os.ReadFile(file) //nolint:gosec // It is a page of the project.
		if err != nil {
			return nil, errors.Wrap(err, "cannot read page")
		}
		text, used, err := fillPageParts(string(b), all)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot generate %s", file)
		}
		out[file] = text
		for _, name := range used {
			delete(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, errors.Errorf("no page has %q", slices.Sorted(maps.Keys(missing)))
	}
	return out, nil
}

// listPageFiles returns the pages of a directory and of its subdirectories.
func listPageFiles(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			out = append(out, path)
		}
		return err
	})
	return out, errors.Wrap(err, "cannot list pages")
}

// fillPageParts fills a page with its parts, and returns which ones it has.
func fillPageParts(page string, parts map[string]string) (text string, used []string, err error) {
	b := &strings.Builder{}
	for {
		before, rest, found := strings.Cut(page, begin)
		b.WriteString(before)
		if !found {
			return b.String(), used, nil
		}
		name, rest, _ := strings.Cut(rest, " -->\n")
		part, isKnown := parts[name]
		if !isKnown {
			return "", nil, errors.Errorf("no generated part has the name %q", name)
		}
		stale, rest, ended := strings.Cut(rest, end)
		if !ended || strings.Contains(stale, begin) {
			return "", nil, errors.Errorf("%q has no end", name)
		}
		b.WriteString(begin + name + " -->\n" + part + end)
		page, used = rest, append(used, name)
	}
}
