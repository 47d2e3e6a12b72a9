package prunerequest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/prune"
	"github.com/intentplane/intentplane/provider/remote"
)

// How many markers, and the files of how many directories, are read with one question to the server.
const (
	markersAtOnce     = 2_000
	directoriesAtOnce = 50
)

// A gatherer gathers the facts about a request, past caches. It reads each file and directory once by its id.
type gatherer struct {
	*Reconciler
	contents

	request *v1alpha1.PruneRequest
	opened  remote.Opened
	// cluster has the objects of the API server. gatherCluster sets it before a plan is made.
	cluster *clusterFacts
	// isInTurn is true while the plan has its turn in the queue of the repository. Then nothing is read that all deliveries would wait for: unknown files count
	// as unread.
	isInTurn bool
}

// newGatherer opens the repository of a request. It contacts no server.
func (r *Reconciler) newGatherer(ctx context.Context, pr *v1alpha1.PruneRequest) (*gatherer, error) {
	opened, err := r.opener.Open(ctx, *pr.Spec.ProviderConfigRef, pr.GetNamespace(), pr.GetNamespace() == r.namespace)
	if err != nil {
		return nil, err
	}
	return &gatherer{Reconciler: r, request: pr.DeepCopy(), opened: opened, contents: newContents()}, nil
}

// A draftedPlan is a plan with its facts.
type draftedPlan struct {
	prune.Plan

	facts   *prune.Facts
	records []record
}

// planForSnapshot makes the plan of a snapshot as of a time: directories that reached the minimum age after that are kept.
func (g *gatherer) planForSnapshot(ctx context.Context, s *git.Snapshot, plannedAt time.Time) (*draftedPlan, error) {
	f, records, err := g.gatherFacts(ctx, s, plannedAt)
	if err != nil {
		return nil, err
	}
	// Files of directories that are kept for another reason are not read.
	allowStateful := f.AllowStateful
	f.AllowStateful = true
	p, err := prune.MakePlan(f)
	if err != nil {
		return nil, err
	}
	f.AllowStateful = allowStateful
	if p.Refusal == prune.RefusalTooMany {
		return &draftedPlan{Plan: p, facts: f, records: records}, nil
	}
	if err := g.readObjects(ctx, s, f, p.Pruned()); err != nil {
		return nil, err
	}
	p, err = prune.MakePlan(f)
	return &draftedPlan{Plan: p, facts: f, records: records}, err
}

// gatherFacts gathers all facts but the content of directories, which counts as unread.
func (g *gatherer) gatherFacts(ctx context.Context, s *git.Snapshot, plannedAt time.Time) (*prune.Facts, []record, error) {
	f := &prune.Facts{
		Options: planOptions(g.request), Now: plannedAt, SystemNamespace: g.namespace,
	}
	c := g.opened.Config
	f.Repository = prune.Repository{
		URL: c.Git.URL, Branch: c.Git.Branch, ControlPlane: c.ControlPlane, ClusterUID: g.opened.ClusterUID, TakeOverFrom: c.TakeOverFrom,
		Untrusted: g.explainState(ctx, s),
	}
	records, err := g.readRecords(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	f.Repository.Entries, f.Repository.Deliveries = recordedEntries(records, c.Git.Branch), g.cluster.owners.Repository.Deliveries
	f.Living, f.Unlisted = g.cluster.owners.Living, g.cluster.owners.Unlisted
	f.Directories, err = g.readDirectories(ctx, s, records)
	return f, records, err
}

// readDirectories returns the directories that have a marker of any control plane, or of a user.
func (g *gatherer) readDirectories(ctx context.Context, s *git.Snapshot, records []record) ([]prune.Directory, error) {
	found, err := s.MarkedDirectories(ctx, g.opened.Config.Git.PathPrefix, tree.Marker)
	if err != nil {
		return nil, err
	}
	delete(found, "")
	ids := []string{}
	for _, d := range found {
		if _, isKnown := g.markers[d.File]; !isKnown {
			ids = append(ids, d.File)
		}
	}
	if !g.isInTurn {
		if err := g.readAllMarkers(ctx, s, ids); err != nil {
			return nil, err
		}
	}
	sites, out := sitesByPath(records, g.opened.Config.Git.Branch), make([]prune.Directory, 0, len(found))
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		content := g.markers[found[dir].File]
		if content == nil {
			content = []byte{} // The directory has the file.
		}
		out = append(out, prune.Directory{Site: sites[dir], Path: dir, Tree: found[dir].Tree, Marker: content, Unread: true})
	}
	return out, nil
}

// readAllMarkers reads files by their ids, some of which may be equal.
func (g *gatherer) readAllMarkers(ctx context.Context, s *git.Snapshot, ids []string) error {
	slices.Sort(ids)
	for chunk := range slices.Chunk(slices.Compact(ids), markersAtOnce) {
		if err := g.readMarkers(ctx, s, chunk); err != nil {
			return err
		}
	}
	return nil
}

// readMarkers reads files by their ids. A file that is too large for an answer is found by bisection, and counts as empty: it is not a marker.
func (g *gatherer) readMarkers(ctx context.Context, s *git.Snapshot, ids []string) error {
	err := g.opened.Repository.EachFile(ctx, s, ids, g.addMarkerContent)
	switch {
	case failure.ClassOf(err) != failure.ClassTooLarge && err != nil:
		return err
	case err != nil && len(ids) > 1:
		half := len(ids) / 2
		if err := g.readMarkers(ctx, s, ids[:half]); err != nil {
			return err
		}
		return g.readMarkers(ctx, s, ids[half:])
	}
	for _, id := range ids {
		if _, isRead := g.markers[id]; !isRead {
			g.markers[id] = nil
		}
	}
	return g.checkMarkers()
}

// readObjects reads the content of the directories of items.
func (g *gatherer) readObjects(ctx context.Context, s *git.Snapshot, f *prune.Facts, items []prune.Item) error {
	trees := map[string]string{}
	for _, i := range items {
		trees[i.Path] = i.Path + " " + i.Tree
	}
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(trees)), func(dir string) bool {
		_, isKnown := g.objects[trees[dir]]
		return isKnown || g.isInTurn
	})
	for chunk := range slices.Chunk(missing, directoriesAtOnce) {
		if err := g.readObjectChunk(ctx, s, chunk, trees); err != nil {
			return err
		}
	}
	for i := range f.Directories {
		d := &f.Directories[i]
		objects := g.objects[trees[d.Path]]
		if objects == nil {
			continue
		}
		d.Unread = false
		for _, o := range objects {
			o.Irreversible = g.cluster.irreversible[o.Kind]
			d.Objects = append(d.Objects, o)
		}
	}
	return nil
}

// readObjectChunk reads some directories. A directory that is too large for an answer is found by bisection.
func (g *gatherer) readObjectChunk(ctx context.Context, s *git.Snapshot, paths []string, trees map[string]string) error {
	err := g.opened.Repository.EachDirectory(ctx, s, paths, func(path string, files map[string][]byte) { g.addFileObjects(trees[path], files, len(trees)) })
	switch {
	case failure.ClassOf(err) != failure.ClassTooLarge && err != nil:
		return err
	case err != nil && len(paths) > 1:
		half := len(paths) / 2
		if err := g.readObjectChunk(ctx, s, paths[:half], trees); err != nil {
			return err
		}
		return g.readObjectChunk(ctx, s, paths[half:], trees)
	}
	for _, dir := range paths {
		if _, isRead := g.objects[trees[dir]]; !isRead {
			g.objects[trees[dir]] = nil
		}
	}
	return nil
}
