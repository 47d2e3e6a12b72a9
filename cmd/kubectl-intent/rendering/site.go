// Package rendering renders the files of deployments with the function's compiler, prints them, and compares them with a checkout.
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

	// Folder is the output folder. It is empty if the files were not written.
	Folder string `json:"folder,omitempty"`

	// Waits is true while the readiness of the Site's cluster is unknown. Its directory does not change.
	Waits bool `json:"waits,omitempty"`

	// Removed is true for a directory that the deployment no longer uses and would be removed. Site is empty then.
	Removed bool `json:"removed,omitempty"`

	// Files by their path in the directory, if they were not written.
	Files map[string]string `json:"files,omitempty"`

	// Changes lists the changed files, if a checkout was compared.
	Changes []Change `json:"changes,omitempty"`
}

// A Site has the files for one Site.
type Site struct {
	// Name of the Site, and the Path of the directory in the repository.
	Name, Path string

	// Files by their path in the directory. They are empty while the Site Waits.
	Files tree.Files
	Waits bool
}

// CompareSites returns the changed files of each Site. The directory of a removed Site would be removed.
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

// compareFiles returns the changed, added and removed files of a directory.
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
