package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An entry has the fields of a vulnerability in OSV format that the indexes of a database need. A withdrawn entry stays in the indexes, as in the database
// that Go publishes: govulncheck leaves it out itself.
type entry struct {
	ID        string    `json:"id"`
	Modified  time.Time `json:"modified"`
	Published time.Time `json:"published"`
	Withdrawn time.Time `json:"withdrawn"`
	Aliases   []string  `json:"aliases"`
	Affected  []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected"`
}

// lastChange returns the time of the last known change. The Go module has no times of modification, which the published database takes from the commits:
// the later time of publication or withdrawal replaces it.
func (e entry) lastChange() time.Time {
	return slices.MaxFunc([]time.Time{e.Modified, e.Published, e.Withdrawn}, time.Time.Compare)
}

// validate returns an error if an entry would never match a dependency.
func (e entry) validate(file string) error {
	if file != e.ID+".json" {
		return fmt.Errorf("the name of the file differs from the identifier %q", e.ID)
	}
	if len(e.Affected) == 0 {
		return errors.New("no affected module")
	}
	for _, a := range e.Affected {
		if a.Package.Name == "" {
			return errors.New("an affected module has no name")
		}
	}
	return nil
}

// A database has the entries of a folder, in the order of their identifiers.
type database struct {
	folder  string
	entries []entry
}

// readDatabase reads a folder of entries. Each file has to be a valid entry, since a vulnerability that is left out would never be found.
func readDatabase(folder string) (database, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return database{}, fmt.Errorf("cannot read the folder of entries: %w", err)
	}
	if len(files) == 0 {
		return database{}, fmt.Errorf("cannot find an entry in %s", folder)
	}
	d := database{folder: folder}
	for _, file := range files {
		e, err := readEntry(folder, file.Name())
		if err != nil {
			return database{}, fmt.Errorf("cannot read entry %s: %w", file.Name(), err)
		}
		d.entries = append(d.entries, e)
	}
	return d, nil
}

func readEntry(folder, file string) (entry, error) {
	content, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return entry{}, err
	}
	e := entry{}
	if err := json.Unmarshal(content, &e); err != nil {
		return entry{}, err
	}
	return e, e.validate(file)
}

// lastChange returns the time of the newest entry.
func (d database) lastChange() time.Time {
	newest := time.Time{}
	for _, e := range d.entries {
		newest = slices.MaxFunc([]time.Time{newest, e.lastChange()}, time.Time.Compare)
	}
	return newest
}

// An indexedEntry is an entry in an index. Aliases are its identifiers in other databases, in the index of vulnerabilities alone.
type indexedEntry struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
}

// An indexedModule is a Go module with its vulnerabilities. The standard library is module stdlib, and the go command module toolchain. The optional version
// with the fix is left out: without it govulncheck compares the ranges of each entry, and no wrong version can hide a vulnerability.
type indexedModule struct {
	Path  string         `json:"path"`
	Vulns []indexedEntry `json:"vulns"`
}

// indexModules returns the affected modules in the order of their paths. An entry with several ranges of a module is listed once.
func (d database) indexModules() []indexedModule {
	modules := map[string]*indexedModule{}
	for _, e := range d.entries {
		for _, a := range e.Affected {
			m := modules[a.Package.Name]
			if m == nil {
				m = &indexedModule{Path: a.Package.Name}
				modules[m.Path] = m
			}
			if n := len(m.Vulns); n == 0 || m.Vulns[n-1].ID != e.ID {
				m.Vulns = append(m.Vulns, indexedEntry{ID: e.ID, Modified: e.lastChange()})
			}
		}
	}
	out := make([]indexedModule, 0, len(modules))
	for _, m := range modules {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b indexedModule) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// indexEntries returns all entries with their aliases.
func (d database) indexEntries() []indexedEntry {
	out := make([]indexedEntry, 0, len(d.entries))
	for _, e := range d.entries {
		out = append(out, indexedEntry{ID: e.ID, Modified: e.lastChange(), Aliases: e.Aliases})
	}
	return out
}

// A databaseIndex is the index of the database itself.
type databaseIndex struct {
	Modified time.Time `json:"modified"`
}

// write writes the database into a folder, in the form that https://go.dev/security/vuln/database describes.
func (d database) write(folder string) error {
	if err := os.CopyFS(filepath.Join(folder, "ID"), os.DirFS(d.folder)); err != nil {
		return fmt.Errorf("cannot copy the entries: %w", err)
	}
	index := filepath.Join(folder, "index")
	if err := os.MkdirAll(index, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of indexes: %w", err)
	}
	return errors.Join(
		writeJSON(filepath.Join(index, "db.json"), databaseIndex{Modified: d.lastChange()}),
		writeJSON(filepath.Join(index, "modules.json"), d.indexModules()),
		writeJSON(filepath.Join(index, "vulns.json"), d.indexEntries()),
	)
}

func writeJSON(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("cannot write an index: %w", err)
	}
	return nil
}
