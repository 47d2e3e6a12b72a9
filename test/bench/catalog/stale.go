package catalog

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"path"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// programFiles are files beside the Go packages of a program that it is built or installed from.
var programFiles = []string{"go.mod", "package", "apis/composition"}

// A Stale figure has no measurement of the present code.
type Stale struct {
	Name string

	// Changed are the directories that changed since it was measured. Without any it was never measured, or its commit is not in this repository.
	Changed []string
}

// A Checkout is a working copy of the project, whose history and packages answer which code a figure measures.
type Checkout struct {
	Root string

	// packages remembers the directories of a package's imports, and changed the directories that changed since a commit.
	packages map[string]map[string]bool
	changed  map[string][]string
}

// NewCheckout returns the checkout in a directory.
func NewCheckout(root string) *Checkout {
	return &Checkout{Root: root, packages: map[string]map[string]bool{}, changed: map[string][]string{}}
}

// Stale returns the figures whose code changed since their measurement. The packages of a figure are the main packages or benchmarks that it
// measures. It returns an error if git or go fail.
func (c *Checkout) Stale(ctx context.Context, all Figures, packagesOf func(name string) []string) ([]Stale, error) {
	var out []Stale
	for _, f := range all {
		if f.Measured == nil || !c.hasCommit(ctx, f.Measured.Commit) {
			out = append(out, Stale{Name: f.Name})
			continue
		}
		changed, err := c.changedSince(ctx, f.Measured.Commit, packagesOf(f.Name))
		if err != nil {
			return nil, errors.Wrapf(err, "cannot compare %s with the present code", f.Name)
		}
		if len(changed) > 0 {
			out = append(out, Stale{Name: f.Name, Changed: changed})
		}
	}
	return out, nil
}

func (c *Checkout) hasCommit(ctx context.Context, commit string) bool {
	_, err := c.runInCheckout(ctx, "git", "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// changedSince returns the directories of some packages, and of their imports, that changed since a commit.
func (c *Checkout) changedSince(ctx context.Context, commit string, packages []string) ([]string, error) {
	all, err := c.changedDirectories(ctx, commit)
	if err != nil {
		return nil, err
	}
	relevant, err := c.directoriesOf(ctx, packages)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, dir := range all {
		if relevant[dir] {
			out = append(out, dir)
		}
	}
	return out, nil
}

// changedDirectories returns the directories with program code that changed since a commit, sorted. Tests and pages do not count.
func (c *Checkout) changedDirectories(ctx context.Context, commit string) ([]string, error) {
	if cached, ok := c.changed[commit]; ok {
		return cached, nil
	}
	b, err := c.runInCheckout(ctx, "git", "diff", "--name-only", commit, "HEAD")
	if err != nil {
		return nil, err
	}
	out, found := []string{}, map[string]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		dir, counts := measuredPart(lines.Text())
		if counts && !found[dir] {
			out, found[dir] = append(out, dir), true
		}
	}
	c.changed[commit] = out
	return out, nil
}

// measuredPart returns the directory of a file of Go, or the part of the packages that a file belongs to, and false for a file that no figure depends on.
func measuredPart(file string) (string, bool) {
	for _, part := range programFiles {
		if file == part || strings.HasPrefix(file, part+"/") {
			return part, true
		}
	}
	return path.Dir(file), path.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go")
}

// directoriesOf returns the directories of packages and of their imports in this project, with the files that each program is built from.
func (c *Checkout) directoriesOf(ctx context.Context, packages []string) (map[string]bool, error) {
	key := strings.Join(packages, " ")
	if cached, ok := c.packages[key]; ok {
		return cached, nil
	}
	const imported = `{{if and .Module .Module.Main}}{{.ImportPath}} {{.Module.Path}}{{end}}`
	b, err := c.runInCheckout(ctx, "go", append([]string{"list", "-deps", "-f", imported}, packages...)...)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, part := range programFiles {
		out[part] = true
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if name, module, found := strings.Cut(lines.Text(), " "); found {
			out[path.Join(".", strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))] = true
		}
	}
	c.packages[key] = out
	return out, nil
}

func (c *Checkout) runInCheckout(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = c.Root
	complaint := &bytes.Buffer{}
	cmd.Stderr = complaint
	out, err := cmd.Output()
	return out, errors.Wrapf(err, "cannot run %s %s: %s", name, args[0], bytes.TrimSpace(complaint.Bytes()))
}
