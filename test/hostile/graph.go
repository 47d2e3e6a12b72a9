package hostile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"
)

// Marker is the name of the file that directories of the graphs have.
const Marker = ".intentplane"

// An Object is one object of a graph.
type Object struct {
	// Kind is the kind of the object in Git's packs: 1 is a commit, 2 a tree, 3 a file.
	Kind byte
	Data []byte
}

// ID is Git's id of the object.
func (o Object) ID() string { return gitObjectID(int(o.Kind), o.Data) }

// A Graph is a repository with few or small objects that stand for far more than they are.
type Graph struct {
	Name    string
	Objects []Object
	// Tree is the id of the root, and Commit the id of its commit.
	Tree, Commit string
	// Paths of directories in it.
	Paths []string
}

// Pack returns the pack that has all objects of the graph.
func (g Graph) Pack() []byte {
	out := newPackHeader(len(g.Objects))
	for _, o := range g.Objects {
		writeObject(out, o.Kind, o.Data)
	}
	return appendChecksum(out)
}

// countPaths is how many paths a graph names.
const countPaths = 600

// Graphs goes through the graphs that each reader of a repository is tried with. Each is made when its turn comes.
func Graphs() iter.Seq[Graph] {
	return func(yield func(Graph) bool) {
		for _, newGraph := range []func() Graph{sharedSubtrees, longNames, longPaths, wideRoot, manyNames, missingFiles, deepTrees} {
			if !yield(newGraph()) {
				return
			}
		}
	}
}

// sharedSubtrees has 40 levels, in each of which the next one lies under two names: its 41 trees stand for more directories than any
// machine can go through.
func sharedSubtrees() Graph {
	b := &graphBuilder{}
	id := b.addTreeObject(b.markerEntry())
	for range 40 {
		id = b.addTreeObject(b.markerEntry(), directoryEntry("a", id), directoryEntry("b", id))
	}
	return b.finishGraph("SharedSubtrees", id, func(n int) string {
		return strings.Join(strings.Split(strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%010b", n)), ""), "/")
	})
}

// longNames has 27 KiB of trees that stand for 400,000 directories with paths of 1,000 bytes.
func longNames() Graph {
	const names, length = 25, 250
	name := func(n int) string { return fmt.Sprintf("%0*d", length, n) }
	b := &graphBuilder{}
	id := b.addTreeObject(b.markerEntry())
	for range 4 {
		entries := []entry{b.markerEntry()}
		for n := range names {
			entries = append(entries, directoryEntry(name(n), id))
		}
		id = b.addTreeObject(entries...)
	}
	return b.finishGraph("LongNames", id, func(n int) string {
		return strings.Join([]string{name(n % names), name(n / names), name(0), name(0)}, "/")
	})
}

// longPaths has 39 levels of two names without any marker: 5 KiB of trees that stand for directories without end, with paths of 1,000 bytes.
func longPaths() Graph {
	const levels, length = 39, 25
	names := [2]string{fmt.Sprintf("%0*d", length, 0), fmt.Sprintf("%0*d", length, 1)}
	b := &graphBuilder{}
	id := b.addTreeObject(entry{mode: "100644", name: "file", id: b.markerEntry().id})
	for range levels {
		id = b.addTreeObject(directoryEntry(names[0], id), directoryEntry(names[1], id))
	}
	return b.finishGraph("LongPaths", id, func(n int) string {
		return strings.TrimSuffix(strings.NewReplacer("0", names[0]+"/", "1", names[1]+"/").Replace(fmt.Sprintf("%010b", n)), "/")
	})
}

// wideRoot has 400,000 names of one directory.
func wideRoot() Graph {
	b := &graphBuilder{}
	id := b.addTreeObject(b.markerEntry())
	entries := []entry{b.markerEntry()}
	for n := range 400_000 {
		entries = append(entries, directoryEntry(fmt.Sprintf("d%06d", n), id))
	}
	return b.finishGraph("WideRoot", b.addTreeObject(entries...), func(n int) string { return fmt.Sprintf("d%06d", 399_999-n) })
}

// manyNames has 10,000 names of one directory with 50,000 files.
func manyNames() Graph {
	b := &graphBuilder{}
	entries := []entry{b.markerEntry()}
	for n := range 50_000 {
		entries = append(entries, entry{mode: "100644", name: fmt.Sprintf("f%06d", n), id: entries[0].id})
	}
	wide := b.addTreeObject(entries...)
	entries = []entry{b.markerEntry()}
	for n := range 10_000 {
		entries = append(entries, directoryEntry(fmt.Sprintf("n%06d", n), wide))
	}
	return b.finishGraph("ManyNames", b.addTreeObject(entries...), func(n int) string { return fmt.Sprintf("n%06d", 9_999-n) })
}

// missingFiles has a directory with 500,000 files that the server does not send, each of another id.
func missingFiles() Graph {
	b := &graphBuilder{}
	entries := []entry{b.markerEntry()}
	for n := range 500_000 {
		entries = append(entries, entry{mode: "100644", name: fmt.Sprintf("f%06d", n), id: fmt.Sprintf("%040x", n+1)})
	}
	wide := b.addTreeObject(entries...)
	entries = []entry{b.markerEntry()}
	for n := range countPaths {
		entries = append(entries, directoryEntry(fmt.Sprintf("n%06d", n), wide))
	}
	return b.finishGraph("MissingFiles", b.addTreeObject(entries...), func(n int) string { return fmt.Sprintf("n%06d", n) })
}

// deepTrees has 100,000 directories in each other.
func deepTrees() Graph {
	b := &graphBuilder{}
	id := b.addTreeObject(b.markerEntry())
	for range 100_000 {
		id = b.addTreeObject(b.markerEntry(), directoryEntry("d", id))
	}
	return b.finishGraph("DeepTrees", id, func(n int) string { return strings.TrimSuffix(strings.Repeat("d/", n%500+1), "/") })
}

// An entry is an entry of a tree.
type entry struct{ mode, name, id string }

func directoryEntry(name, id string) entry { return entry{mode: "40000", name: name, id: id} }

// A graphBuilder collects the objects of a graph.
type graphBuilder struct{ objects []Object }

func (b *graphBuilder) addGraphObject(kind byte, data []byte) string {
	o := Object{Kind: kind, Data: data}
	b.objects = append(b.objects, o)
	return o.ID()
}

// markerEntry returns the entry of a file that the graph has.
func (b *graphBuilder) markerEntry() entry {
	if len(b.objects) == 0 {
		b.addGraphObject(objectBlob, []byte("claim"))
	}
	return entry{mode: "100644", name: Marker, id: b.objects[0].ID()}
}

func (b *graphBuilder) addTreeObject(entries ...entry) string {
	out := &bytes.Buffer{}
	for _, e := range entries {
		id, _ := hex.DecodeString(e.id) // All ids are hexadecimal.
		fmt.Fprintf(out, "%s %s\x00%s", e.mode, e.name, id)
	}
	return b.addGraphObject(objectTree, out.Bytes())
}

// finishGraph returns the graph with a root and its commit.
func (b *graphBuilder) finishGraph(name, tree string, path func(n int) string) Graph {
	g := Graph{Name: name, Tree: tree, Commit: b.addGraphObject(objectCommit, commitOfTree(tree)), Objects: b.objects}
	for n := range countPaths {
		g.Paths = append(g.Paths, path(n))
	}
	return g
}
