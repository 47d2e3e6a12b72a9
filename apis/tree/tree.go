// Package tree holds the only codec of trees: how the files of a directory travel in an object, and their git tree id in a repository.
package tree

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Marker is the name of the file that names the owner of a directory. It has no extension of YAML, because GitOps engines would apply it. It is never among the
// files that travel: the provider adds it.
const Marker = ".intentplane"

// Bounds of a tree.
const (
	// MaxFiles is the greatest number of files in a tree.
	MaxFiles = 2000

	// MaxBytes is the greatest total size of the files of a tree, in bytes.
	MaxBytes = 8 << 20

	// MaxEncodedBytes is the greatest size of an encoded tree, in bytes, so that the object that carries it stays below
	// 1 MiB (an object's limit in etcd is 1.5 MiB, and base64 adds a third).
	MaxEncodedBytes = 700 << 10
)

// Files are the files of a directory, by their path in it. Paths are relative, clean and separated by slashes.
type Files map[string][]byte

// Names returns the names of the files, sorted.
func (f Files) Names() []string {
	return slices.Sorted(maps.Keys(f))
}

// InFolder returns the files of a folder, by their paths in it.
func (f Files) InFolder(folder string) Files {
	out := Files{}
	for name, content := range f {
		if file, ok := strings.CutPrefix(name, folder+"/"); ok {
			out[file] = content
		}
	}
	return out
}

// Validate returns an error that names the first file which may not be in a tree, or the bound that was crossed.
func (f Files) Validate() error {
	if len(f) > MaxFiles {
		return errors.Errorf("%d files are more than the %d that a tree may hold", len(f), MaxFiles)
	}
	size := 0
	for _, name := range f.Names() {
		if err := ValidatePath(name); err != nil {
			return err
		}
		size += len(f[name])
	}
	if size > MaxBytes {
		return errors.Errorf("%d bytes are more than the %d that a tree may hold", size, MaxBytes)
	}
	return f.validateFolders()
}

// validateFolders returns an error when one path is both a file and a folder.
func (f Files) validateFolders() error {
	for _, name := range f.Names() {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := f[dir]; ok {
				return errors.Errorf("%q is a file and a folder", dir)
			}
		}
	}
	return nil
}

// ValidatePath returns an error when name cannot be the path of a file in a tree.
func ValidatePath(name string) error {
	if name == "" || len(name) > 512 || path.IsAbs(name) || path.Clean(name) != name {
		return errors.Errorf("%q is not a clean relative path", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return errors.Errorf("%q has a part that begins with a dot", name)
		}
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\:*?"<>|`, r) }); i >= 0 {
		return errors.Errorf("%q has a character that a path may not have", name)
	}
	return nil
}

// ID is the id that the files have as a git tree, with every file a regular one: the SHA-1 of the tree object, as git's
// documentation of objects describes it (gitformat: "tree <size>\0" and entries "<mode> <name>\0<20 bytes>").
func ID(f Files) string {
	return newRootNode(f).gitTreeHash().String()
}
