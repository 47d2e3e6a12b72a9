package gitdelivery

import (
	"context"
	"maps"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/state"
)

// restoredTrees returns the files of the trees to restore. They come from the repository, and never through Kubernetes.
func (e *external) restoredTrees(ctx context.Context, d *v1alpha1.GitDelivery, f facts, s *git.Snapshot) (map[string]tree.Files, error) {
	out := map[string]tree.Files{}
	for _, t := range f.spec.Trees {
		if t.Action != v1alpha1.ActionRestore || t.Tree == "" {
			continue
		}
		files, ok, err := e.findAnywhere(ctx, d, f, s, lookup{id: t.Tree, path: t.Path, commits: f.commitsWithTree(t.Tree)})
		if err != nil {
			return nil, err
		}
		if ok {
			out[t.Tree] = files
		}
	}
	return out, nil
}

// A lookup is the id of a wanted tree, with the directory and commits that may have it.
type lookup struct {
	id string
	// path of the directory that has or had the tree. folder of the directory, empty if the tree is the whole directory.
	path, folder string
	// commits that may have the tree.
	commits []string
}

// findAnywhere returns the files of a tree, and whether any repository of the claim has them.
func (e *external) findAnywhere(ctx context.Context, d *v1alpha1.GitDelivery, f facts, s *git.Snapshot, l lookup) (tree.Files, bool, error) {
	files, ok, err := e.findTreeFiles(ctx, f, s, l)
	if err != nil || ok {
		return files, ok, err
	}
	return e.readElsewhere(ctx, d, l)
}

// findTreeFiles returns the files of a tree, and whether they are in the repository. An entry other than a plain file was not delivered by this provider,
// so that it counts as not found. A tree that was never there itself may be derived from a directory with tracks.
func (e *external) findTreeFiles(ctx context.Context, f facts, s *git.Snapshot, l lookup) (tree.Files, bool, error) {
	if files, ok := e.readTrees[l.id]; ok {
		return files, true, nil
	}
	w := git.WantedTree{ID: l.id, RetainedDir: f.retainedDir(), Path: l.path, Folder: l.folder, Without: tree.Marker, Commits: l.commits}
	files, ok, err := e.readPlainTree(ctx, s, w)
	if err == nil && !ok && f.hasTracks() {
		w.Derive = l.deriveFiles
		files, ok, err = e.readPlainTree(ctx, s, w)
	}
	if ok {
		e.readTrees[l.id] = files
	}
	return files, ok, err
}

func (e *external) readPlainTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (tree.Files, bool, error) {
	files, ok, err := e.repo.ReadTree(ctx, s, w)
	if c := failure.ClassOf(err); c == failure.ClassInvalid || c == failure.ClassTooLarge {
		return nil, false, nil
	}
	if err != nil || !ok || tree.ID(files) != w.ID {
		return nil, false, err
	}
	return files, true, nil
}

// commitsWithTree returns the commits of the history that delivered a tree.
func (f facts) commitsWithTree(id string) []string {
	out := []string{}
	for _, h := range append(f.baseRecord().Revisions, f.lastStatus.History...) {
		for _, t := range h.Trees {
			if (t.Tree == id || t.Part == id) && h.Commit != "" {
				out = append(out, h.Commit)
				break
			}
		}
	}
	return out
}

// decodedFiles returns the files of a tree of the spec, or nil for invalid files.
func (f facts) decodedFiles(t v1alpha1.Tree) tree.Files {
	if t.Action == v1alpha1.ActionRestore {
		return f.restored[t.Tree]
	}
	files, err := f.filesOf(t)
	if err != nil {
		return nil
	}
	return f.withParts(t, files)
}

// markedFiles returns the files of a tree with the claim's marker, and their common id.
func (f facts) markedFiles(t v1alpha1.Tree) (tree.Files, string) {
	files := tree.Files{tree.Marker: f.content}
	maps.Copy(files, f.decodedFiles(t))
	return files, tree.ID(files)
}

// hasUnretainedTree is true if the state does not retain a delivered tree whose files are available.
func (f facts) hasUnretainedTree() bool {
	for _, t := range f.spec.Trees {
		if t.Action != v1alpha1.ActionKeep && !f.retained[t.Tree] && len(f.decodedFiles(t)) > 0 {
			return true
		}
	}
	return false
}

// retainedTrees returns the trees that the state has to retain. It omits a tree that the repository has lost.
func (t *task) retainedTrees(ctx context.Context, s *git.Snapshot, added map[string]tree.Files) (map[string]git.Trees, error) {
	retained, filesByTree, places := git.Trees{}, t.facts.filesByTree(), t.lookupsByTree()
	maps.Copy(filesByTree, added)
	for _, id := range t.record.TreeIDs() {
		files := filesByTree[id]
		if t.facts.retained[id] {
			retained[id] = nil
			continue
		}
		if l, isKnown := places[id]; files == nil && isKnown {
			var err error
			if files, _, err = t.findTreeFiles(ctx, t.facts, s, l); err != nil {
				return nil, err
			}
		}
		if len(files) > 0 {
			retained[id] = files
		}
	}
	return map[string]git.Trees{t.facts.retainedDir(): retained}, nil
}

// retainedDir returns the directory of the state that retains the claim's trees.
func (f facts) retainedDir() string { return state.TreesPath(f.spec.ClaimRef) }

// filesByTree returns the files that the facts already have, by the id of their tree.
func (f facts) filesByTree() map[string]tree.Files {
	out := map[string]tree.Files{}
	for _, t := range f.spec.Trees {
		if t.Action == v1alpha1.ActionKeep {
			continue
		}
		out[t.Tree] = f.decodedFiles(t)
		for _, treeTrack := range t.Tracks {
			folder := filesInFolder(out[t.Tree], treeTrack.Name)
			out[tree.ID(folder)] = folder
		}
	}
	return out
}

// lookupsByTree returns the lookups for the trees of the record, by id.
func (t *task) lookupsByTree() map[string]lookup {
	sites, out := map[string]string{}, map[string]lookup{}
	add := func(id, path, folder string) {
		if id != "" {
			out[id] = lookup{id: id, path: path, folder: folder, commits: t.commitsForTree(id)}
		}
	}
	for _, recorded := range t.record.Trees {
		sites[recorded.Site] = recorded.Path
	}
	tracks := t.facts.trackByRevision()
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
	if t.facts.memory != nil && !t.facts.rebuilt {
		return nil
	}
	return t.facts.commitsWithTree(id)
}

// readElsewhere reads the files of a tree from another repository of the claim. Each repository is opened with its own configuration and credentials, so
// that a configuration gives access to its own repository alone.
func (e *external) readElsewhere(ctx context.Context, d *v1alpha1.GitDelivery, l lookup) (tree.Files, bool, error) {
	// A delivery that names a claim of another namespace is refused later, and reads nothing with the credentials of that namespace until then.
	if e.openOther == nil || d.Spec.ForProvider.ClaimRef.Namespace != d.GetNamespace() {
		return nil, false, nil
	}
	parts, err := e.deliveriesOf(ctx, d.Spec.ForProvider.ClaimRef)
	if err != nil {
		return nil, false, err
	}
	for i := range parts {
		candidate := &parts[i]
		if candidate.GetName() == d.GetName() || !hasTreeIn(candidate.Status.AtProvider, l.id) {
			continue
		}
		if files, ok, err := e.readFromDelivery(ctx, d, candidate, l); ok || err != nil {
			return files, ok, errors.Wrapf(err, "cannot read tree %s from the repository of GitDelivery %q", l.id, candidate.GetName())
		}
	}
	return nil, false, nil
}

func (e *external) readFromDelivery(ctx context.Context, d, source *v1alpha1.GitDelivery, l lookup) (tree.Files, bool, error) {
	opened, err := e.openOther(ctx, source)
	if remote.IsUnusable(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	s, err := opened.repo.Look(ctx, client.ObjectKeyFromObject(d), e.now().Add(-e.age))
	if err != nil {
		return nil, false, err
	}
	f := facts{spec: source.Spec.ForProvider, lastStatus: source.Status.AtProvider, marker: opened.markerOfDelivery(source)}
	for _, t := range f.spec.Trees {
		files, ok, err := opened.findTreeFiles(ctx, f, s, lookup{id: l.id, path: t.Path, folder: l.folder, commits: f.commitsWithTree(l.id)})
		if ok {
			e.readTrees[l.id] = files
		}
		if ok || err != nil {
			return files, ok, err
		}
	}
	return nil, false, nil
}

// hasTreeIn reports whether a repository has or had a tree, by the status of its delivery.
func hasTreeIn(observed v1alpha1.GitDeliveryObservation, id string) bool {
	isInHistory := slices.ContainsFunc(observed.History, func(h v1alpha1.HistoryEntry) bool {
		return slices.ContainsFunc(h.Trees, func(t v1alpha1.HistoryTree) bool { return t.Tree == id || t.Part == id })
	})
	return isInHistory || slices.ContainsFunc(observed.Trees, func(t v1alpha1.DeliveredTree) bool {
		return slices.ContainsFunc(t.Tracks, func(track v1alpha1.DeliveredTrack) bool { return track.Tree == id })
	})
}
