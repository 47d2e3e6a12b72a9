package gitdelivery

import (
	"context"
	"maps"

	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery/observation"
	"github.com/intentplane/intentplane/provider/git"
)

// retainedTrees returns the trees that the state has to retain. It omits a tree that the repository has lost.
func (t *task) retainedTrees(ctx context.Context, s *git.Snapshot, added map[string]tree.Files) (map[string]git.Trees, error) {
	retained, filesByTree, places := git.Trees{}, t.facts.FilesByTree(), t.lookupsByTree()
	maps.Copy(filesByTree, added)
	for _, id := range t.record.TreeIDs() {
		files := filesByTree[id]
		if t.facts.Retained[id] {
			retained[id] = nil
			continue
		}
		if l, isKnown := places[id]; files == nil && isKnown {
			var err error
			if files, _, err = t.gatherer.FindTreeFiles(ctx, t.facts, s, l); err != nil {
				return nil, err
			}
		}
		if len(files) > 0 {
			retained[id] = files
		}
	}
	return map[string]git.Trees{t.facts.RetainedDir(): retained}, nil
}

// lookupsByTree returns the lookups for the trees of the record, by id.
func (t *task) lookupsByTree() map[string]observation.Lookup {
	sites, out := map[string]string{}, map[string]observation.Lookup{}
	add := func(id, path, folder string) {
		if id != "" {
			out[id] = observation.Lookup{ID: id, Path: path, Folder: folder, Commits: t.commitsForTree(id)}
		}
	}
	for _, recorded := range t.record.Trees {
		sites[recorded.Site] = recorded.Path
	}
	tracks := t.facts.TrackByRevision()
	for _, h := range t.record.Revisions {
		for _, recorded := range h.Trees {
			if path, isKnown := sites[recorded.Site]; isKnown {
				add(recorded.Part, path, tracks[h.Revision])
				add(recorded.Tree, path, "")
			}
		}
	}
	for _, recorded := range t.record.Trees {
		for _, track := range recorded.Tracks {
			add(track.Tree, recorded.Path, track.Name)
		}
		add(recorded.Tree, recorded.Path, "")
	}
	return out
}

// commitsForTree returns the commits to search for a tree. Only a lost state has to collect its trees from commits.
func (t *task) commitsForTree(id string) []string {
	if t.facts.Memory != nil && !t.facts.Rebuilt {
		return nil
	}
	return t.facts.CommitsWithTree(id)
}
