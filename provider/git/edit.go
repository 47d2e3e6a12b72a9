package git

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A node is one place in a tree that a change touches.
type node struct {
	children map[string]*node
	// file is the content, if the place becomes a file.
	file   []byte
	isFile bool
	// owned directories hold their children and nothing else afterwards.
	owned bool
	// gone places hold nothing afterwards, whatever was there.
	gone bool
	// link is a tree that the server has. Zero where there is none.
	link plumbing.Hash
	// keeps directories hold on to trees, whose files are light: whoever wrote
	// them does not go on holding them in memory.
	keeps bool
	light bool
}

// directory returns a node that becomes a directory of these files, or nothing
// if there are none.
func directory(files map[string][]byte) (*node, error) {
	n := &node{owned: true}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := n.place(path, &node{isFile: true, file: files[path]}); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// place puts a node at a path below this one. Two nodes may not lie in each
// other.
func (n *node) place(path string, leaf *node) error {
	if err := CheckPath(path); err != nil {
		return &Error{Class: ClassInvalid, Detail: err.Error()}
	}
	parent, last := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		parent, last = path[:i], path[i+1:]
	}
	at, ok := n, true
	if parent != "" {
		at, ok = n.descend(parent)
	}
	if !ok || at.child(last) != nil {
		return failf(ClassInvalid, "path %q is in another path of the same change, or is named twice", shorten(path))
	}
	at.add(last, leaf)
	return nil
}

// descend returns the node of a directory on the way to a leaf, as owned as the
// node where it begins; it fails at a place that is a leaf itself.
func (n *node) descend(path string) (*node, bool) {
	at := n
	for name := range strings.SplitSeq(path, "/") {
		next := at.child(name)
		if next == nil {
			next = &node{owned: n.owned}
			at.add(name, next)
		}
		if next.isFile || next.gone || next.owned != n.owned {
			return nil, false
		}
		at = next
	}
	return at, true
}

func (n *node) child(name string) *node {
	return n.children[name]
}

func (n *node) add(name string, child *node) {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[name] = child
}

// removesOnly reports whether nothing is left where the node is.
func (n *node) removesOnly() bool {
	if n.isFile {
		return false
	}
	for _, c := range n.children {
		if !c.removesOnly() {
			return false
		}
	}
	return true
}

// An editor makes the objects of a new tree out of those of an old one.
type editor struct {
	old  view
	made []object
	seen map[plumbing.Hash]bool
}

// edit returns the id of the tree after the change, zero if it is empty.
func (e *editor) edit(old plumbing.Hash, n *node, path string) (plumbing.Hash, error) {
	entries, err := e.old.entries(old)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	next := entries
	if n.owned {
		next = nil
	}
	if n.keeps {
		e.skip(old)
	}
	next = slices.DeleteFunc(slices.Clone(next), func(x entry) bool { return n.child(x.name) != nil })
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		was, found := findEntry(entries, name)
		now, err := e.entry(was, found, n, name, path+name)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if !now.id.IsZero() {
			next = append(next, now)
		}
	}
	if len(next) == 0 {
		return plumbing.ZeroHash, nil
	}
	slices.SortStableFunc(next, compareEntries)
	return e.add(newObject(plumbing.TreeObject, encodeTree(next)), old), nil
}

// entry returns what stands under a name after the change; an id of zero is
// nothing.
func (e *editor) entry(was entry, found bool, parent *node, name, path string) (entry, error) {
	n := parent.child(name)
	if n.gone {
		return entry{}, nil
	}
	if !n.link.IsZero() {
		return entry{mode: modeTree, name: name, id: n.link}, nil
	}
	if found && was.isDir() == n.isFile && !parent.owned {
		// Under a file of a stranger there is nothing of ours to remove.
		if n.removesOnly() {
			return was, nil
		}
		return entry{}, occupied(path, n)
	}
	if n.isFile {
		return entry{mode: modeFile, name: name, id: e.add(n.blob(), was.id)}, nil
	}
	base := plumbing.ZeroHash
	if found && was.isDir() {
		base = was.id
	}
	id, err := e.edit(base, n, path+"/")
	return entry{mode: modeTree, name: name, id: id}, err
}

func occupied(path string, n *node) error {
	if n.isFile {
		return failf(ClassOccupied, "cannot write file %q: a directory is there", shorten(path))
	}
	return failf(ClassOccupied, "cannot write directory %q: a file, a link or a submodule is there", shorten(path))
}

// add returns the id of the object, and keeps the object if the server may not
// have it.
func (e *editor) add(o object, old plumbing.Hash) plumbing.Hash {
	id := o.id
	_, known := e.old.objects.get(id)
	if id == old || known || e.seen[id] {
		return id
	}
	if e.seen == nil {
		e.seen = map[plumbing.Hash]bool{}
	}
	e.seen[id] = true
	o.base = old
	e.made = append(e.made, o)
	return id
}
