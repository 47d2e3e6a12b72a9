package objects

import (
	"context"
	"iter"
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

// A View is one commit and the known objects below it. All objects below a known object are known too, except files that were left out. It is opened with a
// meter, which bounds the cost of its reader. A View without a meter, such as a zero View, refuses to be read.
type View struct {
	Commit  plumbing.Hash
	Tree    plumbing.Hash
	objects *layer[Object]
	meter   *Meter
	// payer is the namespace that pays for the memory of the objects. Empty stands for administrators.
	payer string
	// live is the number of objects when all of them were in use, and liveBytes their memory.
	live, liveBytes int
	// bytes is the approximate memory of the objects.
	bytes int
}

// Open returns the view for a reader with a meter. With nil it is closed: a memory that readers share keeps it so.
func (v View) Open(m *Meter) View {
	v.meter = m
	return v
}

// An Entry has the mode and the object id of a name in a directory.
type Entry struct {
	// Mode is Git's: 100644 a file, 100755 an executable file, 120000 a
	// symbolic link, 160000 a submodule, 40000 a directory.
	Mode string
	// ID of the object.
	ID string
}

// Meter returns the meter of the view's reader, or nil if the view is closed.
func (v View) Meter() *Meter { return v.meter }

// Read returns the content of a known object, and an error for an unknown object or another kind.
func (v View) Read(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	if err := v.meter.spendMeterUnits(ctx, openedObject, 1); err != nil {
		return nil, err
	}
	o, ok := v.objects.Get(id)
	if !ok || o.Kind != kind {
		return nil, failure.Newf(failure.ClassUnknown, "cannot read %s %s: the server did not send it", kind, id)
	}
	return o.Data, nil
}

// Entries goes through the entries of a tree that is known. The id zero is an empty tree. It ends with an error if the tree cannot be read, or the meter is
// spent.
func (v View) Entries(ctx context.Context, id plumbing.Hash) iter.Seq2[TreeEntry, error] {
	return func(yield func(TreeEntry, error) bool) {
		for l, err := range v.eachTreeLine(ctx, id) {
			if !yield(l.toTreeEntry(), err) {
				return
			}
		}
	}
}

// eachTreeLine goes through a tree. Everything that reads a tree does so here, and each entry counts.
func (v View) eachTreeLine(ctx context.Context, id plumbing.Hash) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		data, err := v.readTreeObject(ctx, id)
		for err == nil && len(data) > 0 {
			var l line
			if err = v.meter.spendMeterUnits(ctx, readEntry, 1); err != nil {
				break
			}
			if l, data, err = cutTreeLine(data); err == nil && !yield(l, nil) {
				return
			}
		}
		if err != nil {
			yield(line{}, err)
		}
	}
}

func (v View) readTreeObject(ctx context.Context, id plumbing.Hash) ([]byte, error) {
	if id.IsZero() {
		return nil, v.meter.spendMeterUnits(ctx, openedObject, 1)
	}
	return v.Read(ctx, plumbing.TreeObject, id)
}

// collectEntries returns the entries of a tree, which have to fit into an answer.
func (v View) collectEntries(ctx context.Context, id plumbing.Hash) ([]TreeEntry, error) {
	out, a := []TreeEntry{}, Answer{}
	for l, err := range v.eachTreeLine(ctx, id) {
		if err != nil {
			return nil, err
		}
		if err := a.countHeldBytes(len(l.name) + pathOverhead); err != nil {
			return nil, err
		}
		out = append(out, l.toTreeEntry())
	}
	return out, nil
}

// Find returns the entry at a path, and whether it exists. It returns an error if the path is refused.
func (v View) Find(ctx context.Context, path string) (TreeEntry, bool, error) {
	if err := CheckPath(path); err != nil {
		return TreeEntry{}, false, &failure.Error{Class: failure.ClassInvalid, Detail: err.Error()}
	}
	if err := v.meter.spendMeterUnits(ctx, pathByte, len(path)); err != nil {
		return TreeEntry{}, false, err
	}
	entry := TreeEntry{Mode: ModeTree, ID: v.Tree}
	for name := range strings.SplitSeq(path, "/") {
		if !entry.IsDir() {
			return TreeEntry{}, false, nil
		}
		next, ok, err := v.findChildEntry(ctx, entry.ID, name)
		if err != nil || !ok {
			return TreeEntry{}, false, err
		}
		entry = next
	}
	return entry, true, nil
}

func (v View) findChildEntry(ctx context.Context, tree plumbing.Hash, name string) (TreeEntry, bool, error) {
	for l, err := range v.eachTreeLine(ctx, tree) {
		if err != nil {
			return TreeEntry{}, false, err
		}
		if string(l.name) == name {
			return l.toTreeEntry(), true, nil
		}
	}
	return TreeEntry{}, false, nil
}

// directoryAt returns the tree at a path, and whether there is one. The empty path is the root.
func (v View) directoryAt(ctx context.Context, path string) (plumbing.Hash, bool, error) {
	if path == "" {
		return v.Tree, true, nil
	}
	e, ok, err := v.Find(ctx, path)
	return e.ID, ok && e.IsDir(), err
}

// List returns the entries of a directory, by name; nothing if the directory does not exist. The empty path is the root. It returns an error as FilesNamed
// does.
func (v View) List(ctx context.Context, path string) (map[string]Entry, error) {
	tree, ok, err := v.directoryAt(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	entries, err := v.collectEntries(ctx, tree)
	if err != nil {
		return nil, aboutDirectory(path, err)
	}
	out := make(map[string]Entry, len(entries))
	for _, e := range entries {
		out[e.Name] = Entry{Mode: e.Mode, ID: e.ID.String()}
	}
	return out, nil
}

// TreeWithout returns the id that a tree has without the entry of a name, whether that exists or not.
func (v View) TreeWithout(ctx context.Context, tree plumbing.Hash, name string) (plumbing.Hash, error) {
	size := 0
	for l, err := range v.linesWithout(ctx, tree, name) {
		if err != nil {
			return plumbing.ZeroHash, err
		}
		size += len(l.raw)
	}
	h := plumbing.NewHasher(plumbing.TreeObject, int64(size))
	for l, err := range v.linesWithout(ctx, tree, name) {
		if err != nil {
			return plumbing.ZeroHash, err
		}
		_, _ = h.Write(l.raw) // It never fails.
	}
	return h.Sum(), nil
}

func (v View) linesWithout(ctx context.Context, tree plumbing.Hash, name string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for l, err := range v.eachTreeLine(ctx, tree) {
			if (err != nil || string(l.name) != name) && !yield(l, err) {
				return
			}
		}
	}
}

// withCommit returns the view after a commit that adds objects.
func (v View) withCommit(ctx context.Context, commit Object, added []Object) (View, error) {
	addedObjects := make(map[plumbing.Hash]Object, len(added)+1)
	for _, o := range append(added, commit) {
		if !o.SendOnly {
			addedObjects[o.ID] = o
		}
	}
	next := View{
		Commit: commit.ID, meter: v.meter, payer: v.payer, bytes: v.bytes + sizeOfObjects(addedObjects), live: v.live, liveBytes: v.liveBytes,
	}
	next.objects = v.addObjectLayer(addedObjects)
	var err error
	if next.Tree, err = treeOfCommit(commit.Data); err != nil {
		return View{}, err
	}
	// Each delivery leaves the trees behind that it replaced. To look for them
	// each time costs more than they take.
	if next.objects.Len() < 2*next.live+minGarbage && next.bytes < next.liveBytes+next.liveBytes/2+minGarbageBytes {
		return next, nil
	}
	return next.compactObjects(ctx, true)
}

// compactObjects drops the objects that are not reachable from the commit, and without withFiles also the files.
func (v View) compactObjects(ctx context.Context, withFiles bool) (View, error) {
	reachable, err := v.reachableObjects(ctx)
	if err != nil {
		return View{}, err
	}
	if !withFiles {
		maps.DeleteFunc(reachable, func(_ plumbing.Hash, o Object) bool { return o.Kind == plumbing.BlobObject })
	}
	size := sizeOfObjects(reachable)
	next := EmptyView(v.payer)
	next.objects = next.addObjectLayer(reachable)
	next.Commit, next.Tree, next.meter = v.Commit, v.Tree, v.meter
	next.live, next.bytes, next.liveBytes = next.objects.Len(), size, size
	return next, nil
}

// reachableObjects returns the commit, and the objects that hang on it. A hostile repository has trees of any depth, so it does not recurse.
func (v View) reachableObjects(ctx context.Context) (map[plumbing.Hash]Object, error) {
	reachable, next := map[plumbing.Hash]Object{}, []plumbing.Hash{}
	add := func(id plumbing.Hash) {
		o, isKnown := v.objects.Get(id)
		if _, done := reachable[id]; done || !isKnown {
			return // An unknown object is a file that was not fetched, or a submodule.
		}
		if reachable[id] = o; o.Kind == plumbing.TreeObject {
			next = append(next, id)
		}
	}
	add(v.Commit)
	for add(v.Tree); len(next) > 0; {
		tree := next[len(next)-1]
		next = next[:len(next)-1]
		for l, err := range v.eachTreeLine(ctx, tree) {
			if err != nil {
				return nil, err
			}
			add(l.id)
		}
	}
	return reachable, nil
}

// IsTidy reports whether all objects of the view were in use when it was made.
func (v View) IsTidy() bool { return v.objects.Len() == v.live }

// Tidy returns the view without the objects that do not hang on its commit, and without its files if withFiles is false.
func (v View) Tidy(ctx context.Context, withFiles bool) (View, error) {
	if v.IsTidy() {
		return v, nil
	}
	return v.compactObjects(ctx, withFiles)
}

// checkComplete returns an error if an added tree refers to a missing object. The
// older trees are complete.
func (v View) checkComplete(ctx context.Context, added map[plumbing.Hash]Object, files bool) error {
	if _, err := v.readTreeObject(ctx, v.Tree); err != nil {
		return err
	}
	for id, o := range added {
		if o.Kind != plumbing.TreeObject {
			continue
		}
		for l, err := range v.eachTreeLine(ctx, id) {
			if err != nil {
				return err
			}
			_, ok := v.objects.Get(l.id)
			if !ok && (l.isDirectory() || files && string(l.mode) != ModeSubmodule) {
				return errors.Errorf("cannot read %s: the server did not send it", l.id)
			}
		}
	}
	return nil
}
