package objects

import (
	"context"
	"maps"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/memory"
)

// EmptyView returns the view of a branch without a commit. A namespace pays for the objects that are added to it. It is closed.
func EmptyView(payer string) View { return View{payer: payer} }

// NewView returns the view of a commit from the objects that a server sent for it, without objects that do not hang on the commit. A namespace pays for them.
func NewView(ctx context.Context, m *Meter, payer string, commit plumbing.Hash, objects map[plumbing.Hash]Object) (View, error) {
	size := sizeOfObjects(objects)
	v := EmptyView(payer).Open(m)
	v.Commit, v.bytes, v.liveBytes = commit, size, size
	v.objects = v.objects.With(objects)
	v.live = v.objects.Len()
	v, err := v.withCommitTree(ctx)
	if err != nil {
		return View{}, err
	}
	if compact, err := v.compactObjects(ctx, true); err == nil {
		return compact, nil
	}
	// A tree that no writer of ours made may be malformed. It is an error for its readers alone.
	memory.HoldWhile(v.objects, payer, int64(size))
	return v, nil
}

// withCommitTree returns the view with the tree of its commit.
func (v View) withCommitTree(ctx context.Context) (View, error) {
	data, err := v.Read(ctx, plumbing.CommitObject, v.Commit)
	if err != nil {
		return View{}, err
	}
	v.Tree, err = treeOfCommit(data)
	return v, err
}

// Extend returns the view of a newer commit: the objects of this view and the objects that a server sent. Other commits are left out.
// It returns an error if something is missing; files count only if withFiles is true.
func (v View) Extend(ctx context.Context, commit plumbing.Hash, sent map[plumbing.Hash]Object, withFiles bool) (View, error) {
	added := make(map[plumbing.Hash]Object, len(sent))
	for id, o := range sent {
		if o.Kind != plumbing.CommitObject || id == commit {
			added[id] = o
		}
	}
	next := View{
		Commit: commit, meter: v.meter, payer: v.payer, objects: v.addObjectLayer(maps.Clone(added)),
		live: v.live, liveBytes: v.liveBytes, bytes: v.bytes + sizeOfObjects(added),
	}
	next, err := next.withCommitTree(ctx)
	if err != nil {
		return View{}, err
	}
	return next, next.checkComplete(ctx, added, withFiles)
}

// AddObjects returns the view with more objects that hang on its commit.
func (v View) AddObjects(objects map[plumbing.Hash]Object) View {
	v.bytes += sizeOfObjects(objects)
	v.objects = v.addObjectLayer(objects)
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

// Count returns the upper bound of the number of objects: an object that was added twice counts twice.
func (v View) Count() int { return v.objects.Len() }

// Size returns the approximate memory of the objects in bytes.
func (v View) Size() int { return v.bytes }

// addObjectLayer returns the objects of the view with more, whose map it takes over. The payer holds their memory until no reader has them any more: a snapshot that
// was dropped from a cache counts while a reconcile reads it.
func (v View) addObjectLayer(added map[plumbing.Hash]Object) *layer[Object] {
	next := v.objects.With(added)
	if next != v.objects {
		memory.HoldWhile(next, v.payer, int64(sizeOfObjects(next.own)))
	}
	return next
}

func sizeOfObjects(objects map[plumbing.Hash]Object) int {
	const overhead = 200 // Of a map, an id twice, a header of a slice, and its share of unused places in the map.
	size := 0
	for _, o := range objects {
		size += len(o.Data) + overhead
	}
	return size
}
