// Package objects decodes and encodes the bytes of a Git repository: objects, views of commits, edits of trees, and the history of a
// branch. It opens no connection.
package objects

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
)

// Modes of the entries of a tree, as Git writes them.
const (
	// ModeFile is of a plain file.
	ModeFile = "100644"
	// ModeExecutable is of an executable file.
	ModeExecutable = "100755"
	// ModeTree is of a directory.
	ModeTree = "40000"
	// ModeSubmodule is of a commit in another repository.
	ModeSubmodule = "160000"
)

// BlobID returns the id that Git gives to a file with this content.
func BlobID(content []byte) string {
	return plumbing.ComputeHash(plumbing.BlobObject, content).String()
}

// An Object is one object of a repository, decoded no further than needed.
type Object struct {
	Kind plumbing.ObjectType
	Data []byte
	ID   plumbing.Hash
	// Base is the object that it replaces. Zero without such an object.
	Base plumbing.Hash
	// SendOnly objects are sent, and not kept in memory.
	SendOnly bool
}

// NewObject returns an object with its id.
func NewObject(kind plumbing.ObjectType, data []byte) Object {
	return Object{Kind: kind, Data: data, ID: plumbing.ComputeHash(kind, data)}
}

// A TreeEntry is one line of a tree, with its mode as written.
type TreeEntry struct {
	Mode string
	Name string
	ID   plumbing.Hash
}

// IsDir reports whether the entry is a directory.
func (e TreeEntry) IsDir() bool { return isTreeMode(e.Mode) }

// IsFile reports whether the entry is a regular file, executable or not: no directory, no symbolic link and no submodule.
func (e TreeEntry) IsFile() bool { return strings.HasPrefix(e.Mode, "100") }

// A line is an entry of a tree, as its bytes are.
type line struct {
	mode, name []byte
	id         plumbing.Hash
	// raw has all bytes of the entry.
	raw []byte
}

// cutTreeLine returns the first entry of a tree, and the rest. It accepts entries that EncodeTree would not write: unmanaged files belong to other writers.
func cutTreeLine(tree []byte) (line, []byte, error) {
	mode, rest, ok := bytes.Cut(tree, []byte{' '})
	name, rest, ok2 := bytes.Cut(rest, []byte{0})
	if !ok || !ok2 || len(rest) < len(plumbing.ZeroHash) {
		return line{}, nil, errors.New("cannot parse tree: it is malformed")
	}
	l := line{mode: mode, name: name}
	copy(l.id[:], rest)
	rest = rest[len(l.id):]
	l.raw = tree[:len(tree)-len(rest)]
	return l, rest, nil
}

// isDirectory reports whether the entry is a directory. Old tools wrote its mode with a zero in front.
func (l line) isDirectory() bool { return isTreeMode(l.mode) }

func isTreeMode[T string | []byte](mode T) bool {
	return len(mode) >= len(ModeTree) && string(mode[len(mode)-len(ModeTree):]) == ModeTree && strings.Trim(string(mode[:len(mode)-len(ModeTree)]), "0") == ""
}

// toTreeEntry returns the entry with strings of its own.
func (l line) toTreeEntry() TreeEntry {
	mode := string(l.mode)
	for _, candidate := range []string{ModeFile, ModeTree} {
		if mode == candidate {
			mode = candidate // All entries share it.
		}
	}
	return TreeEntry{Mode: mode, Name: string(l.name), ID: l.id}
}

// withKnownModes returns the entries with the modes that Git writes today, as its index does when it writes a tree: old tools wrote 040000 for a directory and
// 100664 for a file, which mean the same, and a server with receive.fsckObjects refuses the former in each new tree.
func withKnownModes(entries []TreeEntry) []TreeEntry {
	out := slices.Clone(entries)
	for i, e := range out {
		switch {
		case e.IsDir():
			out[i].Mode = ModeTree
		case isExecutableMode(e.Mode):
			out[i].Mode = ModeExecutable
		case e.IsFile():
			out[i].Mode = ModeFile
		}
	}
	return out
}

// isExecutableMode reports whether the owner of a file may execute it.
func isExecutableMode(mode string) bool {
	const owner = 0o100
	bits, err := strconv.ParseUint(mode, 8, 32)
	return err == nil && strings.HasPrefix(mode, "100") && bits&owner != 0
}

// EncodeTree returns the bytes of a tree. The entries must be in Git's order.
func EncodeTree(entries []TreeEntry) []byte {
	size := 0
	for _, e := range entries {
		size += len(e.Mode) + len(e.Name) + len(e.ID) + len(" \x00")
	}
	b := make([]byte, 0, size)
	for _, e := range entries {
		b = append(b, e.Mode...)
		b = append(b, ' ')
		b = append(b, e.Name...)
		b = append(b, 0)
		b = append(b, e.ID[:]...)
	}
	return b
}

// compareTreeEntries is Git's order: a directory sorts as if its name ended with a
// slash.
func compareTreeEntries(a, b TreeEntry) int {
	return strings.Compare(a.treeSortKey(), b.treeSortKey())
}

func (e TreeEntry) treeSortKey() string {
	if e.IsDir() {
		return e.Name + "/"
	}
	return e.Name
}

// findTreeEntry returns the entry of a name, and whether there is one.
func findTreeEntry(entries []TreeEntry, name string) (TreeEntry, bool) {
	i := slices.IndexFunc(entries, func(e TreeEntry) bool { return e.Name == name })
	if i < 0 {
		return TreeEntry{}, false
	}
	return entries[i], true
}

// treeOfCommit returns the tree that a commit names in its first line.
func treeOfCommit(commit []byte) (plumbing.Hash, error) {
	line, _, _ := bytes.Cut(commit, []byte{'\n'})
	id, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !plumbing.IsHash(id) {
		return plumbing.ZeroHash, errors.New("cannot parse commit: it names no tree")
	}
	return plumbing.NewHash(id), nil
}

// parentsOfCommit goes through the commits that a commit names as its parents, which stand in the lines after the first line.
func parentsOfCommit(commit []byte) iter.Seq[plumbing.Hash] {
	return func(yield func(plumbing.Hash) bool) {
		_, rest, _ := bytes.Cut(commit, []byte{'\n'})
		for {
			line, next, _ := bytes.Cut(rest, []byte{'\n'})
			id, ok := strings.CutPrefix(string(line), "parent ")
			if !ok || !plumbing.IsHash(id) || !yield(plumbing.NewHash(id)) {
				return
			}
			rest = next
		}
	}
}
