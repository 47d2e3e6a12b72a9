// Package rendering renders deployments as the function does, prints their files, and compares them with others.
package rendering

import (
	"bytes"
	"path"
	"slices"

	"github.com/intentplane/intentplane/apis/tree"
)

// A Report is the rendered delivery of one Site, for a person or a program.
type Report struct {
	// Site, and the Path of the directory in the repository.
	Site string `json:"site,omitempty"`
	Path string `json:"path"`

	// Folder that the files were written to.
	Folder string `json:"folder,omitempty"`

	// Waits says that the Site receives nothing yet, since its cluster is not known to be ready: its directory stays as it is.
	Waits bool `json:"waits,omitempty"`

	// Removed says that the directory would be removed: the deployment does not go there any more. Then no Site is named.
	Removed bool `json:"removed,omitempty"`

	// Files by their path in the directory, if they were not written.
	Files map[string]string `json:"files,omitempty"`

	// Changes in a checkout, if it was compared with one.
	Changes []Change `json:"changes,omitempty"`
}

// A Site has the files for one Site.
type Site struct {
	// Name of the Site, and the Path of the directory in the repository.
	Name, Path string

	// Files by their path in the directory. A Site that Waits has none, and its directory stays as it is.
	Files tree.Files
	Waits bool
}

// CompareSites returns the changes of the files of each Site, including removed Sites, whose directories are removed.
func CompareSites(previous, next []Site) []Report {
	byPath := map[string]Site{}
	for _, site := range previous {
		byPath[site.Path] = site
	}
	var out []Report
	for _, site := range next {
		r := Report{Site: site.Name, Path: site.Path, Waits: site.Waits, Changes: []Change{}}
		if !site.Waits {
			r.Changes = compareFiles(site.Path, byPath[site.Path].Files, site.Files)
		}
		delete(byPath, site.Path)
		out = append(out, r)
	}
	for _, site := range previous {
		if _, isLeft := byPath[site.Path]; isLeft {
			out = append(out, Report{Path: site.Path, Removed: true, Changes: compareFiles(site.Path, site.Files, nil)})
		}
	}
	return out
}

// compareFiles returns how the files of a directory change.
func compareFiles(dir string, previous, next tree.Files) []Change {
	names := slices.Concat(previous.Names(), next.Names())
	slices.Sort(names)
	out := []Change{}
	for _, name := range slices.Compact(names) {
		if full := path.Join(dir, name); !bytes.Equal(previous[name], next[name]) {
			out = append(out, Change{File: full, Diff: unifiedDiff(full, previous[name], next[name])})
		}
	}
	return out
}
