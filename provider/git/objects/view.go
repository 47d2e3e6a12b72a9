package objects

import (
	"maps"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// minGarbage is how many unused objects, and minGarbageBytes how many bytes of
// them, a view may have before they are looked for.
const (
	minGarbage      = 256
	minGarbageBytes = 1 << 20
)

// A View is one commit and the objects below it that are known. What hangs on
// an object that is known is known too, but for files that were left out.
type View struct {
	Commit  plumbing.Hash
	Tree    plumbing.Hash
	objects *layer[Object]
	// live is how many objects there were when all of them were in use, and liveBytes what they took.
	live, liveBytes int
	// bytes that the objects take, by and large.
	bytes int
}

func sizeOfObjects(objects map[plumbing.Hash]Object) int {
	const overhead = 128 // Of a map, a name, a header of a slice.
	size := 0
	for _, o := range objects {
		size += len(o.Data) + overhead
	}
	return size
}

// An Entry is what stands under a name in a directory.
type Entry struct {
	// Mode is Git's: 100644 a file, 100755 an executable file, 120000 a
	// symbolic link, 160000 a submodule, 40000 a directory.
	Mode string
	// ID of the object.
	ID string
}

// Read returns the content of an object that is known, and an error for one that is not, or is of another kind.
func (v View) Read(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, ok := v.objects.Get(id)
	if !ok || o.Kind != kind {
		return nil, failure.Newf(failure.ClassUnknown, "cannot read %s %s: the server did not send it", kind, id)
	}
	return o.Data, nil
}

// Entries returns the entries of a tree that is known. The id zero is an empty tree.
func (v View) Entries(id plumbing.Hash) ([]TreeEntry, error) {
	if id.IsZero() {
		return nil, nil
	}
	data, err := v.Read(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	return parseTree(data)
}

// Find returns what stands at a path, and whether anything does. It returns an error if the path is refused.
func (v View) Find(path string) (TreeEntry, bool, error) {
	if err := CheckPath(path); err != nil {
		return TreeEntry{}, false, &failure.Error{Class: failure.ClassInvalid, Detail: err.Error()}
	}
	at := TreeEntry{Mode: ModeTree, ID: v.Tree}
	for name := range strings.SplitSeq(path, "/") {
		if !at.IsDir() {
			return TreeEntry{}, false, nil
		}
		entries, err := v.Entries(at.ID)
		if err != nil {
			return TreeEntry{}, false, err
		}
		next, ok := findTreeEntry(entries, name)
		if !ok {
			return TreeEntry{}, false, nil
		}
		at = next
	}
	return at, true, nil
}

// List returns what stands in a directory, by name; nothing if the directory does not exist. The empty path is the root.
func (v View) List(path string) (map[string]Entry, error) {
	id := v.Tree
	if path != "" {
		e, ok, err := v.Find(path)
		if err != nil || !ok || !e.IsDir() {
			return nil, err
		}
		id = e.ID
	}
	entries, err := v.Entries(id)
	out := make(map[string]Entry, len(entries))
	for _, e := range entries {
		out[e.Name] = Entry{Mode: e.Mode, ID: e.ID.String()}
	}
	return out, err
}

// withCommit returns the view after a commit that adds objects.
func (v View) withCommit(commit Object, added []Object) (View, error) {
	own := make(map[plumbing.Hash]Object, len(added)+1)
	for _, o := range append(added, commit) {
		if !o.SendOnly {
			own[o.ID] = o
		}
	}
	next := View{Commit: commit.ID, bytes: v.bytes + sizeOfObjects(own), live: v.live, liveBytes: v.liveBytes}
	next.objects = v.objects.With(own)
	var err error
	if next.Tree, err = treeOfCommit(commit.Data); err != nil {
		return View{}, err
	}
	// Each delivery leaves the trees behind that it replaced. To look for them
	// each time costs more than they take.
	if next.objects.Len() < 2*next.live+minGarbage && next.bytes < next.liveBytes+next.liveBytes/2+minGarbageBytes {
		return next, nil
	}
	return next.compactObjects(true)
}

// compactObjects drops what does not hang on the commit, and what the filter leaves out.
func (v View) compactObjects(withFiles bool) (View, error) {
	own := map[plumbing.Hash]Object{}
	if commit, ok := v.objects.Get(v.Commit); ok {
		own[v.Commit] = commit
	}
	if err := v.addReachable(own, v.Tree); err != nil {
		return View{}, err
	}
	if !withFiles {
		maps.DeleteFunc(own, func(_ plumbing.Hash, o Object) bool { return o.Kind == plumbing.BlobObject })
	}
	objects := (*layer[Object])(nil).With(own)
	size := sizeOfObjects(own)
	return View{Commit: v.Commit, Tree: v.Tree, objects: objects, live: objects.Len(), bytes: size, liveBytes: size}, nil
}

// addReachable adds an object and what hangs on it to own. A hostile repository has trees of any depth, so it does not recurse.
func (v View) addReachable(own map[plumbing.Hash]Object, id plumbing.Hash) error {
	for next := []plumbing.Hash{id}; len(next) > 0; {
		id, next = next[len(next)-1], next[:len(next)-1]
		o, ok := v.objects.Get(id)
		if _, done := own[id]; done || !ok {
			continue // What is not there is a file that was not fetched, or a submodule.
		}
		own[id] = o
		if o.Kind != plumbing.TreeObject {
			continue
		}
		entries, err := parseTree(o.Data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if _, done := own[e.ID]; !done {
				next = append(next, e.ID)
			}
		}
	}
	return nil
}

// IsTidy reports whether all objects of the view were in use when it was made.
func (v View) IsTidy() bool { return v.objects.Len() == v.live }

// Tidy returns the view without the objects that do not hang on its commit, and without its files if withFiles is false.
func (v View) Tidy(withFiles bool) View {
	if v.IsTidy() {
		return v
	}
	next, err := v.compactObjects(withFiles)
	if err != nil {
		return v // It is as good as it was.
	}
	return next
}

// NewView returns the view of a commit from the objects that a server sent for it.
func NewView(commit plumbing.Hash, objects map[plumbing.Hash]Object) (View, error) {
	size := sizeOfObjects(objects)
	v := View{Commit: commit, objects: (*layer[Object])(nil).With(objects), bytes: size, liveBytes: size}
	v.live = v.objects.Len()
	return v.withCommitTree()
}

// withCommitTree returns the view with the tree of its commit.
func (v View) withCommitTree() (View, error) {
	data, err := v.Read(plumbing.CommitObject, v.Commit)
	if err != nil {
		return View{}, err
	}
	v.Tree, err = treeOfCommit(data)
	return v, err
}

// ObjectsOnly returns a view of objects that hang on no commit.
func ObjectsOnly(objects map[plumbing.Hash]Object) View {
	return View{objects: (*layer[Object])(nil).With(objects)}
}

// Extend returns the view of a newer commit, from what a server sent beside the objects of this one. Of other commits it keeps nothing.
// It returns an error if something is missing; files count only if withFiles is true.
func (v View) Extend(commit plumbing.Hash, sent map[plumbing.Hash]Object, withFiles bool) (View, error) {
	added := make(map[plumbing.Hash]Object, len(sent))
	for id, o := range sent {
		if o.Kind != plumbing.CommitObject || id == commit {
			added[id] = o
		}
	}
	next := View{Commit: commit, objects: v.objects.With(maps.Clone(added)), live: v.live, liveBytes: v.liveBytes, bytes: v.bytes + sizeOfObjects(added)}
	next, err := next.withCommitTree()
	if err != nil {
		return View{}, err
	}
	return next, next.checkComplete(added, withFiles)
}

// AddObjects returns the view with more objects that hang on its commit.
func (v View) AddObjects(objects map[plumbing.Hash]Object) View {
	v.bytes += sizeOfObjects(objects)
	v.objects = v.objects.With(objects)
	return v
}

// AddLive returns the view with more objects that are in use as long as the view is.
func (v View) AddLive(objects map[plumbing.Hash]Object) View {
	v = v.AddObjects(objects)
	v.live, v.liveBytes = v.objects.Len(), v.bytes
	return v
}

// Object returns one of the objects that are known.
func (v View) Object(id plumbing.Hash) (Object, bool) { return v.objects.Get(id) }

// Count returns how many objects there are at most: one that was added twice counts twice.
func (v View) Count() int { return v.objects.Len() }

// Size returns how many bytes the objects take, by and large.
func (v View) Size() int { return v.bytes }

// checkComplete returns an error if something is not there that hangs on what was
// added. What was there before is complete.
func (v View) checkComplete(added map[plumbing.Hash]Object, files bool) error {
	if _, err := v.Entries(v.Tree); err != nil {
		return err
	}
	for _, o := range added {
		if o.Kind != plumbing.TreeObject {
			continue
		}
		entries, err := parseTree(o.Data)
		if err != nil {
			return err
		}
		for _, e := range entries {
			_, ok := v.objects.Get(e.ID)
			if !ok && (e.IsDir() || (files && e.Mode != ModeSubmodule)) {
				return errors.Errorf("cannot read %s: the server did not send it", e.ID)
			}
		}
	}
	return nil
}
