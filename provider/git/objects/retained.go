package objects

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

// retainedSuffix is how the names of the directories end in which the state retains
// trees. A look leaves out the files below them.
const retainedSuffix = ".trees"

// Trees are the files of trees, by the id of each and by relative paths in it.
type Trees map[string]map[string][]byte

// RetainedTrees returns a node that becomes a directory of these trees.
func RetainedTrees(path string, trees Trees) (*Node, error) {
	if !strings.HasSuffix(path, retainedSuffix) {
		return nil, failure.Newf(failure.ClassInvalid, "path %q of the state keeps no trees", failure.Shorten(path))
	}
	n := &Node{owned: true, retains: true}
	for _, id := range slices.Sorted(maps.Keys(trees)) {
		if !plumbing.IsHash(id) {
			return nil, failure.Newf(failure.ClassInvalid, "%q is not the id of a tree", failure.Shorten(id))
		}
		if trees[id] == nil {
			n.addChild(id, &Node{link: plumbing.NewHash(id)})
			continue
		}
		dir, err := Directory(trees[id])
		if err != nil {
			return nil, err
		}
		dir.markSendOnly()
		n.addChild(id, dir)
	}
	return n, nil
}

func (n *Node) markSendOnly() {
	n.sendOnly = true
	for _, c := range n.children {
		c.markSendOnly()
	}
}

func (n *Node) blobObject() Object {
	o := NewObject(plumbing.BlobObject, n.file)
	o.SendOnly = n.sendOnly
	return o
}

// skipReachable marks what hangs on a tree of the old view as known: the server has it.
func (e *treeEditor) skipReachable(tree plumbing.Hash) {
	if e.seen == nil {
		e.seen = map[plumbing.Hash]bool{}
	}
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		entries, err := e.old.Entries(tree)
		if err != nil {
			continue // What is not known is sent again.
		}
		for _, x := range entries {
			if x.IsDir() && !e.seen[x.ID] {
				next = append(next, x.ID)
			}
			e.seen[x.ID] = true
		}
	}
}

// MissingFiles lists the files below a tree that the view does not have: all of them, or all
// but those of retained trees. Each is listed once.
func (v View) MissingFiles(tree plumbing.Hash, all bool) ([]plumbing.Hash, error) {
	g := &missingFiles{view: v, all: all, seen: map[plumbing.Hash]bool{}}
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		dirs, err := g.lookAtTree(tree)
		if err != nil {
			return nil, err
		}
		next = append(next, dirs...)
	}
	return g.ids, nil
}

// missingFiles are the files that a view lacks, each of which is there once.
type missingFiles struct {
	view View
	all  bool
	seen map[plumbing.Hash]bool
	ids  []plumbing.Hash
}

// lookAtTree adds what one tree lacks, and returns the directories in it that were not looked at yet.
func (g *missingFiles) lookAtTree(tree plumbing.Hash) ([]plumbing.Hash, error) {
	entries, err := g.view.Entries(tree)
	if err != nil {
		return nil, err
	}
	dirs := []plumbing.Hash{}
	for _, e := range entries {
		if g.seen[e.ID] || e.Mode == ModeSubmodule {
			continue
		}
		if e.IsDir() && !g.all && strings.HasSuffix(e.Name, retainedSuffix) {
			continue
		}
		g.seen[e.ID] = true
		if e.IsDir() {
			dirs = append(dirs, e.ID)
			continue
		}
		if _, known := g.view.objects.Get(e.ID); !known {
			g.ids = append(g.ids, e.ID)
		}
	}
	return dirs, nil
}
