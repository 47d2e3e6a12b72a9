package observation

import (
	"context"
	"maps"
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/provider/trailers"
)

// rebuildFromCommits rebuilds the record of a lost state from the trailers of this control plane's commits. If the whole state was lost, the records of
// all other claims are rebuilt too, and the first delivery writes them: otherwise a deleted claim would begin at revision 1 again.
func (g *Gatherer) rebuildFromCommits(ctx context.Context, f *decision.Facts, s *git.Snapshot) error {
	if f.Ledger.Newer != "" || f.Unreadable != "" || s.Tip() == "" {
		return nil
	}
	stateless := s.Stateless()
	if !stateless {
		if hasDirectory, err := hasDirectoryWithoutRecord(ctx, *f, s); err != nil || !hasDirectory {
			return err // Without an error the claim is new.
		}
	}
	notes, err := g.Repository.ReadMessages(ctx, s, trailers.Claim+": ")
	if failure.ClassOf(err) == failure.ClassTooLarge {
		return nil // Commits beyond the limit count as absent.
	}
	commits := message.ReadHistory(f.Marker.ControlPlane, notes)
	if err != nil || len(commits) == 0 {
		return err
	}
	records := commits.Records(f.Marker.ClusterUID)
	if stateless {
		f.Owner = commits.Cluster()
	}
	ownPath := state.RecordPath(f.Spec.ClaimRef)
	if record, isKnown := records[ownPath]; isKnown && (f.LastStatus.Record == nil || f.IsSameCluster(record.ClusterUID)) {
		if f.Ledger.Recorded.Seq == 0 {
			f.Ledger.Recorded.LastNumber = max(f.Ledger.Recorded.LastNumber, record.LastNumber)
		}
		if !record.Deleted {
			record.Trees, err = treesInBranch(ctx, *f, s, record.LastNumber, commits.TracksOf(f.Marker.Claim))
			f.Memory, f.Rebuilt = &record, true
		}
	}
	if stateless {
		delete(records, ownPath)
		f.LostRecords = records
	}
	return err
}

// hasDirectoryWithoutRecord reports whether a claim without a record has a directory in the branch.
func hasDirectoryWithoutRecord(ctx context.Context, f decision.Facts, s *git.Snapshot) (bool, error) {
	ours := ownMarkerIDs(f)
	for _, t := range f.Spec.Trees {
		entry, ok, err := s.Entry(ctx, t.Path+"/"+tree.Marker)
		if failure.ClassOf(err) == failure.ClassInvalid {
			continue // A path that no repository can have is refused elsewhere.
		}
		if err != nil || ok && slices.Contains(ours, entry.ID) {
			return err == nil, err
		}
	}
	return false, nil
}

// ownMarkerIDs returns the ids of the claim's markers: by this cluster, and by the cluster in spec.takeOverFrom.
func ownMarkerIDs(f decision.Facts) []string {
	out, former := []string{objects.BlobID(f.MarkerContent)}, f.Marker
	former.ClusterUID = f.Config.TakeOverFrom
	if content, err := former.Encode(); err == nil && former.ClusterUID != "" {
		out = append(out, objects.BlobID(content))
	}
	return out
}

// treesInBranch returns the trees of the claim in the branch. The Site of a directory that the spec does not name any more is unknown, and empty.
func treesInBranch(
	ctx context.Context, f decision.Facts, s *git.Snapshot, revision int64, tracksOf func(site string) []v1alpha1.DeliveredTrack,
) ([]state.Tree, error) {
	sites, ours, out := map[string]string{}, ownMarkerIDs(f), []state.Tree{}
	for _, t := range f.Spec.Trees {
		sites[t.Path] = t.Site
	}
	named, err := s.FilesNamed(ctx, tree.Marker, ours...)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		id, err := s.TreeWithout(ctx, path, tree.Marker)
		if err != nil {
			return nil, err
		}
		out = append(out, state.Tree{Branch: f.BranchName(), DeliveredTree: v1alpha1.DeliveredTree{
			Site: sites[path], Path: path, Tree: id, Revision: revision, Tracks: tracksInBranch(ctx, s, path, tracksOf(sites[path])),
		}})
	}
	return out, nil
}

// tracksInBranch returns the tracks that have a folder in a directory of the branch, with the ids of the folders.
func tracksInBranch(ctx context.Context, s *git.Snapshot, path string, tracks []v1alpha1.DeliveredTrack) []v1alpha1.DeliveredTrack {
	var out []v1alpha1.DeliveredTrack
	for _, t := range tracks {
		if entry, ok, err := s.Entry(ctx, path+"/"+t.Name); err == nil && ok && entry.Mode == objects.ModeTree {
			t.Tree = entry.ID
			out = append(out, t)
		}
	}
	return out
}
