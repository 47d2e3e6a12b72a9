// Package manifest reads the objects in the files of delivered directories, with their instructions to GitOps engines. It caches the objects
// of a directory by the Git ID of its tree, so that a directory is read once for all commits that contain it.
package manifest

import (
	"context"

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

// maxBytes bounds the memory for manifests.
const maxBytes = 32 << 20

// A Directory is a claim's directory with a tree.
type Directory struct {
	// Tenant is the namespace that pays for the memory, and Repository distinguishes repositories whose credentials differ.
	Tenant, Repository string

	// Tree is the Git ID of the directory without its marker. It covers the names of the files and their contents.
	Tree string

	// Delivered are archives of files that may be the files of the tree. They save a request.
	Delivered [][]byte

	// Fetch returns the files of the tree from the repository.
	Fetch func(ctx context.Context) (map[string][]byte, error)
}

// A Reader reads manifests. It is safe for concurrent use.
type Reader struct {
	known *tenantcache.Cache[[]instruction.Manifest]
}

// NewReader returns a Reader.
func NewReader() *Reader { return readerWithLimit(maxBytes) }

func readerWithLimit(limit int) *Reader {
	return &Reader{known: tenantcache.New[[]instruction.Manifest](limit)}
}

// Read returns the objects of a directory in the order of its files. It returns an error if the files cannot be fetched.
func (r *Reader) Read(ctx context.Context, d Directory) ([]instruction.Manifest, error) {
	key := d.Repository + " " + d.Tree
	if cached, ok := r.known.Get(key); ok {
		return cached, nil
	}
	files, err := d.readTreeFiles(ctx)
	if err != nil {
		return nil, err
	}
	var manifests []instruction.Manifest
	for _, name := range files.Names() {
		manifests = append(manifests, instruction.Read(name, files[name])...)
	}
	r.known.Put(d.Tenant, key, manifests, sizeInBytes(manifests))
	return manifests, nil
}

// readTreeFiles returns the files of the tree from an archive that holds it, or else from the repository.
func (d Directory) readTreeFiles(ctx context.Context) (tree.Files, error) {
	for _, archive := range d.Delivered {
		if files, err := tree.Decode(archive); err == nil && tree.ID(files) == d.Tree {
			return files, nil
		}
	}
	return d.Fetch(ctx)
}

// manifestBytes is the approximate memory of a manifest without its texts.
const manifestBytes = 128

func sizeInBytes(all []instruction.Manifest) int {
	size := 0
	for _, m := range all {
		size += manifestBytes + len(m.Object.Group) + len(m.Version) + len(m.Object.Kind) + len(m.Object.Namespace) + len(m.Object.Name)
		for _, i := range m.Instructions {
			size += manifestBytes + len(i.Source)
		}
	}
	return size
}
