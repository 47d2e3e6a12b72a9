package git

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// KeptSuffix is how the names of the directories end in which the state holds
// on to trees. A look leaves out the files below them.
const KeptSuffix = ".trees"

// Trees are the files of trees, by the id of each and by relative paths in it.
type Trees map[string]map[string][]byte

// keep returns a node that becomes a directory of these trees.
func keep(path string, trees Trees) (*node, error) {
	if !strings.HasSuffix(path, KeptSuffix) {
		return nil, failf(ClassInvalid, "path %q of the state keeps no trees", shorten(path))
	}
	n := &node{owned: true, keeps: true}
	for _, id := range slices.Sorted(maps.Keys(trees)) {
		if !plumbing.IsHash(id) {
			return nil, failf(ClassInvalid, "%q is no id of a tree", shorten(id))
		}
		if trees[id] == nil {
			n.add(id, &node{link: plumbing.NewHash(id)})
			continue
		}
		dir, err := directory(trees[id])
		if err != nil {
			return nil, err
		}
		dir.lighten()
		n.add(id, dir)
	}
	return n, nil
}

func (n *node) lighten() {
	n.light = true
	for _, c := range n.children {
		c.lighten()
	}
}

func (n *node) blob() object {
	o := newObject(plumbing.BlobObject, n.file)
	o.light = n.light
	return o
}

// skip what hangs on a tree of the old view: the server has it.
func (e *editor) skip(tree plumbing.Hash) {
	if e.seen == nil {
		e.seen = map[plumbing.Hash]bool{}
	}
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		entries, err := e.old.entries(tree)
		if err != nil {
			continue // What is not known is sent again.
		}
		for _, x := range entries {
			if x.isDir() && !e.seen[x.id] {
				next = append(next, x.id)
			}
			e.seen[x.id] = true
		}
	}
}

// together returns what is kept after a second change. Files that the first one
// brings are not there yet.
func together(first, second map[string]Trees) map[string]Trees {
	out := map[string]Trees{}
	maps.Copy(out, first)
	for dir, trees := range second {
		trees = maps.Clone(trees)
		for id, files := range trees {
			if files == nil {
				trees[id] = first[dir][id]
			}
		}
		out[dir] = trees
	}
	return out
}

// Kept returns the ids of the trees that a directory of the state holds on to.
func (s *Snapshot) Kept(dir string) map[string]bool {
	out := map[string]bool{}
	if trees, ok := s.keeping[dir]; ok {
		for id := range trees {
			out[id] = true
		}
		return out
	}
	entries, err := s.state.list(dir)
	if err != nil {
		return out // No path that we write is refused.
	}
	for name, e := range entries {
		if e.Mode == modeTree && e.ID == name {
			out[name] = true
		}
	}
	return out
}

// state returns the view of the state. The trees that it holds on to may be
// large, and nobody needs their files until a way back is asked for.
func (f fetch) state(ctx context.Context, commit plumbing.Hash, old view) (view, error) {
	v, _, err := f.view(ctx, commit, old, withoutBlobs)
	if err != nil {
		return view{}, err
	}
	missing, err := v.missing(v.tree, false)
	if err != nil || len(missing) == 0 {
		return v, err
	}
	if files, err := f.several(ctx, missing); err == nil {
		v.objects, v.bytes = v.objects.with(files), v.bytes+sizeOf(files)
		v.live, v.liveBytes = v.objects.len(), v.bytes
		if missing, err := v.missing(v.tree, false); err == nil && len(missing) == 0 {
			return v, nil
		}
	}
	if ctx.Err() != nil {
		return view{}, ctx.Err()
	}
	// A server that gives no files by their ids gives all of them.
	v, _, err = f.view(ctx, commit, view{}, everything)
	return v, err
}

// missing lists the files below a tree that are not there: all of them, or all
// but those of trees that are only held on to. Each is listed once.
func (v view) missing(tree plumbing.Hash, all bool) ([]plumbing.Hash, error) {
	g := &gaps{view: v, all: all, seen: map[plumbing.Hash]bool{}}
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		dirs, err := g.look(tree)
		if err != nil {
			return nil, err
		}
		next = append(next, dirs...)
	}
	return g.ids, nil
}

// gaps are the files that a view lacks, each of which is there once.
type gaps struct {
	view view
	all  bool
	seen map[plumbing.Hash]bool
	ids  []plumbing.Hash
}

// look at one tree, and return the directories in it that were not looked at yet.
func (g *gaps) look(tree plumbing.Hash) ([]plumbing.Hash, error) {
	entries, err := g.view.entries(tree)
	if err != nil {
		return nil, err
	}
	dirs := []plumbing.Hash{}
	for _, e := range entries {
		if g.seen[e.id] || e.mode == modeSubmodule {
			continue
		}
		if e.isDir() && !g.all && strings.HasSuffix(e.name, KeptSuffix) {
			continue
		}
		g.seen[e.id] = true
		if e.isDir() {
			dirs = append(dirs, e.id)
			continue
		}
		if _, known := g.view.objects.get(e.id); !known {
			g.ids = append(g.ids, e.id)
		}
	}
	return dirs, nil
}

// several fetches objects, and what hangs on them.
func (f fetch) several(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]object, error) {
	req, err := f.request(ids[0], 1, everything)
	if err != nil {
		return nil, err
	}
	req.Wants = append(req.Wants, ids[1:]...)
	objects, err := f.all(ctx, req)
	if err == nil && objects == nil {
		err = packfile.ErrEmptyPackfile
	}
	return objects, err
}
