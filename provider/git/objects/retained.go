package objects

import (
	"bytes"
	"context"
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

func (n *Node) newBlobObject() Object {
	o := NewObject(plumbing.BlobObject, n.file)
	o.SendOnly = n.sendOnly
	return o
}

// skipReachable marks the objects below a tree of the old view as known: the server has them.
func (e *treeEditor) skipReachable(ctx context.Context, tree plumbing.Hash) error {
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		if _, isKnown := e.old.objects.Get(tree); !isKnown {
			continue // An unknown tree is sent again.
		}
		for l, err := range e.old.eachTreeLine(ctx, tree) {
			if err != nil {
				return err
			}
			if e.seen[l.id] {
				continue
			}
			if err := e.answer.countHeldBytes(idBytes); err != nil {
				return err
			}
			e.seen[l.id] = true
			if l.isDirectory() {
				next = append(next, l.id)
			}
		}
	}
	return nil
}

// MissingFiles lists the files below a tree that the view does not have: all of them, or all except the files of retained trees. Each is listed once. It
// returns an error of class TooLarge if there are more than limit, and else as FilesNamed does.
func (v View) MissingFiles(ctx context.Context, tree plumbing.Hash, all bool, limit int) ([]plumbing.Hash, error) {
	g := &missingFiles{view: v, all: all, most: limit, seen: map[plumbing.Hash]bool{}}
	for next := []plumbing.Hash{tree}; len(next) > 0; {
		tree, next = next[len(next)-1], next[:len(next)-1]
		dirs, err := g.addMissingFiles(ctx, tree)
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
	most int
	seen map[plumbing.Hash]bool
	ids  []plumbing.Hash
}

// addMissingFiles adds the missing files of one tree, and returns its directories that were not visited yet.
func (g *missingFiles) addMissingFiles(ctx context.Context, tree plumbing.Hash) ([]plumbing.Hash, error) {
	dirs := []plumbing.Hash{}
	for l, err := range g.view.eachTreeLine(ctx, tree) {
		if err != nil {
			return nil, err
		}
		if g.isEntrySkipped(l) {
			continue
		}
		g.seen[l.id] = true
		if l.isDirectory() {
			dirs = append(dirs, l.id)
			continue
		}
		if _, isKnown := g.view.objects.Get(l.id); isKnown {
			continue
		}
		if len(g.ids) == g.most {
			return nil, failure.Newf(failure.ClassTooLarge, "cannot read the repository: a directory has more than %d files", g.most)
		}
		g.ids = append(g.ids, l.id)
	}
	return dirs, nil
}

// isEntrySkipped is true for an entry that was looked at before, or that is not wanted.
func (g *missingFiles) isEntrySkipped(l line) bool {
	return g.seen[l.id] || string(l.mode) == ModeSubmodule || l.isDirectory() && !g.all && bytes.HasSuffix(l.name, []byte(retainedSuffix))
}
