// Package manifest reads the objects in the files of delivered directories, with their instructions to GitOps engines. It caches them by the Git IDs of
// the files, so that a file is read once, whatever commit it is in.
package manifest

import (
	"context"
	"maps"
	"slices"

	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

// maxBytes bounds the memory for manifests.
const maxBytes = 32 << 20

// A Directory is a claim's directory at a commit.
type Directory struct {
	// Tenant is the namespace that pays for the memory, and Repository distinguishes repositories whose credentials differ.
	Tenant, Repository string

	// Commit that holds the directory at Path.
	Commit *git.Commit
	Path   string

	// Delivered are archives of files that may be those of the directory. They save a request.
	Delivered [][]byte

	// Fetch returns the files of the directory from the repository.
	Fetch func(ctx context.Context) (map[string][]byte, error)
}

// A Reader reads manifests. It is safe for concurrent use.
type Reader struct {
	known *tenantcache.Cache[[]instruction.Manifest]
}

// NewReader returns a Reader.
func NewReader() *Reader { return &Reader{known: tenantcache.New[[]instruction.Manifest](maxBytes)} }

// Read returns the objects of a directory in the order of its files. It returns an error if the files cannot be fetched.
func (r *Reader) Read(ctx context.Context, d Directory) ([]instruction.Manifest, error) {
	ids, err := d.Commit.FileIDs(d.Path, tree.Marker)
	if err != nil {
		return nil, err
	}
	found, isComplete := r.lookUp(d, ids)
	for _, archive := range d.Delivered {
		if isComplete {
			return found, nil
		}
		// An archive that cannot be decoded is not the one that the repository has.
		files, _ := tree.Decode(archive)
		r.remember(d, files)
		found, isComplete = r.lookUp(d, ids)
	}
	if isComplete {
		return found, nil
	}
	files, err := d.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	r.remember(d, files)
	found, _ = r.lookUp(d, ids)
	return found, nil
}

// lookUp returns the remembered objects of files, and whether all files are remembered.
func (r *Reader) lookUp(d Directory, ids map[string]string) ([]instruction.Manifest, bool) {
	var out []instruction.Manifest
	isComplete := true
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		manifests, ok := r.known.Get(d.key(ids[name]))
		isComplete = isComplete && ok
		out = append(out, manifests...)
	}
	return out, isComplete
}

func (r *Reader) remember(d Directory, files map[string][]byte) {
	for name, content := range files {
		manifests := instruction.Read(name, content)
		r.known.Put(d.Tenant, d.key(objects.BlobID(content)), manifests, sizeInBytes(manifests))
	}
}

func (d Directory) key(id string) string { return d.Repository + " " + id }

// manifestBytes is about what a manifest takes beside its texts.
const manifestBytes = 128

func sizeInBytes(all []instruction.Manifest) int {
	size := 0
	for _, m := range all {
		size += manifestBytes + len(m.Object.Group) + len(m.Object.Kind) + len(m.Object.Namespace) + len(m.Object.Name)
		for _, i := range m.Instructions {
			size += manifestBytes + len(i.Source)
		}
	}
	return size
}
