package objects

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// A Node is one place in a tree that a change touches.
type Node struct {
	children map[string]*Node
	// file is the content, if the place becomes a file.
	file   []byte
	isFile bool
	// owned directories hold their children and nothing else afterwards.
	owned bool
	// gone places hold nothing afterwards, whatever was there.
	gone bool
	// link is the id of a tree that the server has, or zero.
	link plumbing.Hash
	// retains is true for a directory of retained trees, whose files are sent
	// and not held in memory afterwards.
	retains  bool
	sendOnly bool
}

// NewRoot returns the root of a tree, without edits.
func NewRoot() *Node { return &Node{} }

// File returns a node that becomes a file.
func File(content []byte) *Node { return &Node{isFile: true, file: content} }

// Removed returns a node that holds nothing afterwards, whatever was there.
func Removed() *Node { return &Node{gone: true} }

// EmptyDirectory returns a node that holds no directory afterwards. A file that was there stays.
func EmptyDirectory() *Node { return &Node{owned: true} }

// Directory returns a node that becomes a directory of these files, or nothing
// without files.
func Directory(files map[string][]byte) (*Node, error) {
	n := &Node{owned: true}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := n.Place(path, File(files[path])); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Place puts a node at a path below this one. Two nodes may not lie in each
// other.
func (n *Node) Place(path string, leaf *Node) error {
	if err := CheckPath(path); err != nil {
		return &failure.Error{Class: failure.ClassInvalid, Detail: err.Error()}
	}
	parent, last := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		parent, last = path[:i], path[i+1:]
	}
	node, ok := n, true
	if parent != "" {
		node, ok = n.descendToNode(parent)
	}
	if !ok || node.childByName(last) != nil {
		return failure.Newf(failure.ClassInvalid, "path %q is in another path of the same change, or is named twice", failure.Shorten(path))
	}
	node.addChild(last, leaf)
	return nil
}

// descendToNode returns the node of a directory on the way to a leaf, as owned as the
// node where it begins; it fails at a place that is a leaf itself.
func (n *Node) descendToNode(path string) (*Node, bool) {
	node := n
	for name := range strings.SplitSeq(path, "/") {
		next := node.childByName(name)
		if next == nil {
			next = &Node{owned: n.owned}
			node.addChild(name, next)
		}
		if next.isFile || next.gone || next.owned != n.owned {
			return nil, false
		}
		node = next
	}
	return node, true
}

func (n *Node) childByName(name string) *Node {
	return n.children[name]
}

func (n *Node) addChild(name string, child *Node) {
	if n.children == nil {
		n.children = map[string]*Node{}
	}
	n.children[name] = child
}

// RemovesOnly reports whether nothing is left where the node is.
func (n *Node) RemovesOnly() bool {
	if n.isFile {
		return false
	}
	for _, c := range n.children {
		if !c.RemovesOnly() {
			return false
		}
	}
	return true
}

// A treeEditor makes the objects of a new tree out of the objects of the old tree.
type treeEditor struct {
	old  View
	made []Object
	// seen are the ids that the server has, or will have by the objects that were made.
	seen   map[plumbing.Hash]bool
	answer Answer
}

// editTree returns the id of the tree after the change, zero if it is empty.
func (e *treeEditor) editTree(ctx context.Context, old plumbing.Hash, n *Node, path string) (plumbing.Hash, error) {
	entries, err := e.old.collectEntries(ctx, old)
	if err != nil {
		return plumbing.ZeroHash, aboutDirectory(strings.TrimSuffix(path, "/"), err)
	}
	next := entries
	if n.owned {
		next = nil
	}
	if n.retains {
		if err := e.skipReachable(ctx, old); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	next = slices.DeleteFunc(slices.Clone(next), func(x TreeEntry) bool { return n.childByName(x.Name) != nil })
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		previous, found := findTreeEntry(entries, name)
		now, err := e.editTreeEntry(ctx, previous, found, n, name, path+name)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if !now.ID.IsZero() {
			next = append(next, now)
		}
	}
	if len(next) == 0 {
		return plumbing.ZeroHash, nil
	}
	slices.SortStableFunc(next, compareTreeEntries)
	created := NewObject(plumbing.TreeObject, EncodeTree(next))
	if created.ID != old {
		created = NewObject(plumbing.TreeObject, EncodeTree(withKnownModes(next)))
	}
	return e.addMissingObject(created, old), nil
}

// editTreeEntry returns the entry of a name after the change; an id of zero means
// no entry.
func (e *treeEditor) editTreeEntry(ctx context.Context, previous TreeEntry, found bool, parent *Node, name, path string) (TreeEntry, error) {
	n := parent.childByName(name)
	if n.gone {
		return TreeEntry{}, nil
	}
	if !n.link.IsZero() {
		return TreeEntry{Mode: ModeTree, Name: name, ID: n.link}, nil
	}
	if found && previous.IsDir() == n.isFile && !parent.owned {
		// Below an unmanaged file there is nothing of ours to remove.
		if n.RemovesOnly() {
			return previous, nil
		}
		return TreeEntry{}, occupiedError(path, n)
	}
	if n.isFile {
		return TreeEntry{Mode: ModeFile, Name: name, ID: e.addMissingObject(n.newBlobObject(), previous.ID)}, nil
	}
	base := plumbing.ZeroHash
	if found && previous.IsDir() {
		base = previous.ID
	}
	id, err := e.editTree(ctx, base, n, path+"/")
	return TreeEntry{Mode: ModeTree, Name: name, ID: id}, err
}

func occupiedError(path string, n *Node) error {
	if n.isFile {
		return failure.Newf(failure.ClassOccupied, "cannot write file %q: a directory is there", failure.Shorten(path))
	}
	return failure.Newf(failure.ClassOccupied, "cannot write directory %q: a file, a link or a submodule is there", failure.Shorten(path))
}

// addMissingObject returns the id of the object, and keeps the object if the server may not
// have it.
func (e *treeEditor) addMissingObject(o Object, old plumbing.Hash) plumbing.Hash {
	id := o.ID
	_, isKnown := e.old.objects.Get(id)
	if id == old || isKnown || e.seen[id] {
		return id
	}
	e.seen[id] = true
	o.Base = old
	e.made = append(e.made, o)
	return id
}
