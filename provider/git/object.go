package git

import (
	"bytes"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
)

const (
	modeFile = "100644"
	modeTree = "40000"
	// modeSubmodule is of a commit in another repository.
	modeSubmodule = "160000"
)

// BlobID returns the id that Git gives to a file with this content.
func BlobID(content []byte) string {
	return plumbing.ComputeHash(plumbing.BlobObject, content).String()
}

// An object is one object of a repository, decoded no further than needed.
type object struct {
	kind plumbing.ObjectType
	data []byte
	id   plumbing.Hash
	// base is the object that it replaces. Zero where there is none.
	base plumbing.Hash
	// light objects are sent, and not held.
	light bool
}

func newObject(kind plumbing.ObjectType, data []byte) object {
	return object{kind: kind, data: data, id: plumbing.ComputeHash(kind, data)}
}

// An entry is one line of a tree. The mode is kept as written, so that a tree
// which is written again differs in nothing but what was changed.
type entry struct {
	mode string
	name string
	id   plumbing.Hash
}

func (e entry) isDir() bool {
	return strings.TrimLeft(e.mode, "0") == modeTree
}

// parseTree does not judge what it reads: what strangers wrote is theirs.
func parseTree(data []byte) ([]entry, error) {
	entries := []entry{}
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < len(plumbing.ZeroHash) {
			return nil, errors.New("cannot parse tree: it is malformed")
		}
		e := entry{mode: string(mode), name: string(name)}
		copy(e.id[:], rest)
		entries = append(entries, e)
		data = rest[len(e.id):]
	}
	return entries, nil
}

func encodeTree(entries []entry) []byte {
	size := 0
	for _, e := range entries {
		size += len(e.mode) + len(e.name) + len(e.id) + len(" \x00")
	}
	b := make([]byte, 0, size)
	for _, e := range entries {
		b = append(b, e.mode...)
		b = append(b, ' ')
		b = append(b, e.name...)
		b = append(b, 0)
		b = append(b, e.id[:]...)
	}
	return b
}

// compareEntries is Git's order: a directory sorts as if its name ended with a
// slash.
func compareEntries(a, b entry) int {
	return strings.Compare(a.sortKey(), b.sortKey())
}

func (e entry) sortKey() string {
	if e.isDir() {
		return e.name + "/"
	}
	return e.name
}

func findEntry(entries []entry, name string) (entry, bool) {
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == name })
	if i < 0 {
		return entry{}, false
	}
	return entries[i], true
}

// treeOf returns the tree that a commit names in its first line.
func treeOf(commit []byte) (plumbing.Hash, error) {
	line, _, _ := bytes.Cut(commit, []byte{'\n'})
	id, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !plumbing.IsHash(id) {
		return plumbing.ZeroHash, errors.New("cannot parse commit: it names no tree")
	}
	return plumbing.NewHash(id), nil
}

// parentsOf returns the commits that a commit names as its parents, which stand in the lines after the first one.
func parentsOf(commit []byte) []plumbing.Hash {
	out := []plumbing.Hash{}
	_, rest, _ := bytes.Cut(commit, []byte{'\n'})
	for {
		line, next, _ := bytes.Cut(rest, []byte{'\n'})
		id, ok := strings.CutPrefix(string(line), "parent ")
		if !ok || !plumbing.IsHash(id) {
			return out
		}
		out, rest = append(out, plumbing.NewHash(id)), next
	}
}
