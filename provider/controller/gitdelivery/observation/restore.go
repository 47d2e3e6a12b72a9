package observation

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/remote"
)

// restoredTrees returns the files of the trees to restore. They come from the repository, and never through Kubernetes.
func (g *Gatherer) restoredTrees(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts, s *git.Snapshot) (map[string]tree.Files, error) {
	out := map[string]tree.Files{}
	for _, t := range f.Spec.Trees {
		if t.Action != v1alpha1.ActionRestore || t.Tree == "" {
			continue
		}
		files, ok, err := g.findAnywhere(ctx, d, f, s, Lookup{ID: t.Tree, Path: t.Path, Commits: f.CommitsWithTree(t.Tree)})
		if err != nil {
			return nil, err
		}
		if ok {
			out[t.Tree] = files
		}
	}
	return out, nil
}

// A Lookup is the id of a wanted tree, with the directory and commits that may have it.
type Lookup struct {
	ID string
	// Path of the directory that has or had the tree. Folder of the directory, empty if the tree is the whole directory.
	Path, Folder string
	// Commits that may have the tree.
	Commits []string
}

// findAnywhere returns the files of a tree, and whether any repository of the claim has them.
func (g *Gatherer) findAnywhere(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts, s *git.Snapshot, l Lookup) (tree.Files, bool, error) {
	files, ok, err := g.FindTreeFiles(ctx, f, s, l)
	if err != nil || ok {
		return files, ok, err
	}
	return g.readElsewhere(ctx, d, l)
}

// FindTreeFiles returns the files of a tree, and whether they are in the repository. An entry other than a plain file was not delivered by this provider,
// so that it counts as not found. A tree that was never there itself may be derived from a directory with tracks.
func (g *Gatherer) FindTreeFiles(ctx context.Context, f decision.Facts, s *git.Snapshot, l Lookup) (tree.Files, bool, error) {
	if files, ok := g.readTrees[l.ID]; ok {
		return files, true, nil
	}
	w := git.WantedTree{ID: l.ID, RetainedDir: f.RetainedDir(), Path: l.Path, Folder: l.Folder, Without: tree.Marker, Commits: l.Commits}
	files, ok, err := g.readPlainTree(ctx, s, w)
	if err == nil && !ok && f.HasTracks() {
		w.Derive = func(files map[string][]byte) (map[string][]byte, bool) {
			return decision.DeriveTree(files, l.ID, l.Folder)
		}
		files, ok, err = g.readPlainTree(ctx, s, w)
	}
	if ok {
		g.cacheTree(l.ID, files)
	}
	return files, ok, err
}

func (g *Gatherer) readPlainTree(ctx context.Context, s *git.Snapshot, w git.WantedTree) (tree.Files, bool, error) {
	files, ok, err := g.Repository.ReadTree(ctx, s, w)
	if c := failure.ClassOf(err); c == failure.ClassInvalid || c == failure.ClassTooLarge {
		return nil, false, nil
	}
	if err != nil || !ok || tree.ID(files) != w.ID {
		return nil, false, err
	}
	return files, true, nil
}

// readElsewhere reads the files of a tree from another repository of the claim. Each repository is opened with its own configuration and credentials, so
// that a configuration gives access to its own repository alone.
func (g *Gatherer) readElsewhere(ctx context.Context, d *v1alpha1.GitDelivery, l Lookup) (tree.Files, bool, error) {
	// A delivery that names a claim of another namespace is refused later, and reads nothing with the credentials of that namespace until then.
	if g.OpenOther == nil || d.Spec.ForProvider.ClaimRef.Namespace != d.GetNamespace() {
		return nil, false, nil
	}
	parts, err := g.DeliveriesOf(ctx, d.Spec.ForProvider.ClaimRef)
	if err != nil {
		return nil, false, err
	}
	for i := range parts {
		candidate := &parts[i]
		if candidate.GetName() == d.GetName() || !hasTreeIn(candidate.Status.AtProvider, l.ID) {
			continue
		}
		if files, ok, err := g.readFromDelivery(ctx, d, candidate, l); ok || err != nil {
			return files, ok, errors.Wrapf(err, "cannot read tree %s from the repository of GitDelivery %q", l.ID, candidate.GetName())
		}
	}
	return nil, false, nil
}

func (g *Gatherer) readFromDelivery(ctx context.Context, d, source *v1alpha1.GitDelivery, l Lookup) (tree.Files, bool, error) {
	opened, err := g.OpenOther(ctx, source)
	if remote.IsUnusable(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	s, err := opened.Repository.Look(ctx, client.ObjectKeyFromObject(d), g.Now().Add(-g.Age))
	if err != nil {
		return nil, false, err
	}
	f := decision.Facts{Spec: source.Spec.ForProvider, LastStatus: source.Status.AtProvider, Marker: opened.markerOfDelivery(source)}
	for _, t := range f.Spec.Trees {
		files, ok, err := opened.FindTreeFiles(ctx, f, s, Lookup{ID: l.ID, Path: t.Path, Folder: l.Folder, Commits: f.CommitsWithTree(l.ID)})
		if ok {
			g.cacheTree(l.ID, files)
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

// findParts returns the files of the folders that trees name by their ids. It omits a folder that no repository of the claim has.
func (g *Gatherer) findParts(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts, s *git.Snapshot) (map[string]tree.Files, error) {
	out := map[string]tree.Files{}
	for _, t := range f.Spec.Trees {
		for _, p := range t.Parts {
			if t.Action != v1alpha1.ActionDesired || !track.IsTrack(p.Path) {
				continue // It is refused.
			}
			files, ok, err := g.findAnywhere(ctx, d, f, s, Lookup{ID: p.Tree, Path: t.Path, Folder: p.Path, Commits: f.CommitsWithTree(p.Tree)})
			if err != nil {
				return nil, err
			}
			if ok {
				out[p.Tree] = files
			}
		}
	}
	return out, nil
}
