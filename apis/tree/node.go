package tree

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
)

// A node is a folder of a git tree. Each of its names is a file, a folder with known content, or a grafted folder with a known id.
type node struct {
	files   map[string]plumbing.Hash
	folders map[string]*node
	grafts  map[string]plumbing.Hash
}

func newEmptyNode() *node {
	return &node{files: map[string]plumbing.Hash{}, folders: map[string]*node{}, grafts: map[string]plumbing.Hash{}}
}

// newRootNode returns the root of a tree of files. Validate refuses files that are folders too.
func newRootNode(f Files) *node {
	root := newEmptyNode()
	for name, content := range f {
		folder, base := root, name
		for {
			dir, rest, ok := strings.Cut(base, "/")
			if !ok {
				break
			}
			folder, base = folder.ensureChildFolder(dir), rest
		}
		folder.files[base] = plumbing.ComputeHash(plumbing.BlobObject, content)
	}
	return root
}

// ensureChildFolder returns the folder of a name, which it makes if it does not exist.
func (n *node) ensureChildFolder(name string) *node {
	if n.folders[name] == nil {
		n.folders[name] = newEmptyNode()
	}
	return n.folders[name]
}

// ensureFolderPath returns the folder at a path, which it makes if it does not exist. It returns an error for a path through a file or a grafted folder.
func (n *node) ensureFolderPath(name string) (*node, error) {
	folder := n
	for part := range strings.SplitSeq(name, "/") {
		if folder.hasEntry(part) && folder.folders[part] == nil {
			return nil, errors.Errorf("%q of this path is a file or another part", part)
		}
		folder = folder.ensureChildFolder(part)
	}
	return folder, nil
}

func (n *node) hasEntry(name string) bool {
	_, file := n.files[name]
	_, graft := n.grafts[name]
	return file || graft || n.folders[name] != nil
}

func (n *node) gitTreeHash() plumbing.Hash {
	// Git sorts a folder as if its name ended with a slash.
	lines := map[string]string{}
	for name, id := range n.files {
		lines[name] = formatTreeEntry("100644", name, id)
	}
	for name, id := range n.grafts {
		lines[name+"/"] = formatTreeEntry("40000", name, id)
	}
	for name, child := range n.folders {
		lines[name+"/"] = formatTreeEntry("40000", name, child.gitTreeHash())
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(lines[key])
	}
	return plumbing.ComputeHash(plumbing.TreeObject, []byte(b.String()))
}

func formatTreeEntry(mode, name string, id plumbing.Hash) string {
	return fmt.Sprintf("%s %s\x00%s", mode, name, id[:])
}
