package tree

import (
	"encoding/hex"
	"maps"
	"path"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
)

// GraftedID returns the id of the git tree that has these files and, at each path of parts, the tree of that id. So the id of a directory is known
// although the files of some of its folders are not. It returns an error for a path that ValidatePath refuses, an id that is not one of SHA-1 in
// lower case, the empty tree, which Git does not keep in a folder, and a path that is also the path of a file or of a folder that has files.
func GraftedID(f Files, parts map[string]string) (string, error) {
	n := newRootNode(f)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		id, err := parseTreeID(parts[name])
		if err != nil {
			return "", errors.Wrapf(err, "part %q", name)
		}
		if err := ValidatePath(name); err != nil {
			return "", errors.Wrap(err, "part")
		}
		if err := n.graftFolder(name, id); err != nil {
			return "", errors.Wrapf(err, "part %q", name)
		}
	}
	return n.gitTreeHash().String(), nil
}

func parseTreeID(id string) (plumbing.Hash, error) {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != len(plumbing.ZeroHash) || hex.EncodeToString(b) != id {
		return plumbing.ZeroHash, errors.Errorf("%.64q is not the id of a tree", id)
	}
	if id == ID(nil) {
		return plumbing.ZeroHash, errors.New("the empty tree cannot be a folder")
	}
	return plumbing.Hash(b), nil
}

// graftFolder puts a tree into a folder that does not exist.
func (n *node) graftFolder(name string, id plumbing.Hash) error {
	dir, base := path.Split(name)
	folder := n
	if dir != "" {
		var err error
		if folder, err = n.ensureFolderPath(path.Clean(dir)); err != nil {
			return err
		}
	}
	if folder.hasEntry(base) {
		return errors.New("the tree has a file or a folder of this path")
	}
	folder.grafts[base] = id
	return nil
}
