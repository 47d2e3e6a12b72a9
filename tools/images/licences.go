package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"

	"golang.org/x/mod/module"
)

// licenceFile is what the files are called in which the owners of a module say how it may be used.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)([-.].*)?$`)

// licences returns the licences of everything that is linked into a Go binary, by their path in the image: of the modules that its build
// information names, from the module cache, and of Go's own library. It returns an error for a module without one.
func licences(binary, modcache, goroot string) (map[string][]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("cannot read the modules of -binary: %w", err)
	}
	out := map[string][]byte{}
	if err := collect(out, goroot, "go"); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		dir, err := cached(m)
		if err != nil {
			return nil, err
		}
		if err := collect(out, filepath.Join(modcache, dir), m.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cached is where the module cache has a module.
func cached(m *debug.Module) (string, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	p, err := module.EscapePath(m.Path)
	if err != nil {
		return "", fmt.Errorf("cannot find module %s: %w", m.Path, err)
	}
	v, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", fmt.Errorf("cannot find module %s: %w", m.Path, err)
	}
	return filepath.FromSlash(p + "@" + v), nil
}

// collect the licences of one module.
func collect(into map[string][]byte, dir, name string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot read the licence of %s: %w", name, err)
	}
	found := false
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return fmt.Errorf("cannot read the licence of %s: %w", name, err)
		}
		into[path.Join("licences", name, f.Name())], found = b, true
	}
	if !found {
		return fmt.Errorf("cannot read the licence of %s: %w", name, errNoLicence)
	}
	return nil
}

var errNoLicence = errors.New("its module has none")
