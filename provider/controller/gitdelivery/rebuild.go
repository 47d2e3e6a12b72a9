package gitdelivery

import (
	"context"
	"maps"
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// rebuildFromCommits rebuilds the entry of a state that was lost from what our commits say. Where all of the state was lost, the entries of all
// other claims are rebuilt too, and the first delivery writes them: a claim that was deleted would begin at revision 1 again otherwise.
func (e *external) rebuildFromCommits(ctx context.Context, f *facts, s *git.Snapshot) error {
	if f.entry != nil || f.unreadable != "" || s.Tip() == "" {
		return nil
	}
	stateless := s.Stateless()
	if !stateless && !hasDirectoryWithoutEntry(*f, s) {
		return nil // A new claim.
	}
	notes, err := e.repo.ReadMessages(ctx, s, trailerClaim+": ")
	if failure.ClassOf(err) == failure.ClassTooLarge {
		return nil // What cannot be read says nothing.
	}
	if err != nil || len(notes) == 0 {
		return err
	}
	entries := entriesFromCommits(notes, f.marker)
	if stateless {
		f.owner = lastWriter(notes, f.marker.ControlPlane)
	}
	own := state.Path(f.spec.ClaimRef)
	if entry, told := entries[own]; told && (f.lastStatus.Order == nil || f.isSameCluster(entry.ClusterUID)) {
		if entry.Trees, err = treesInBranch(ctx, *f, s, entry.Order.Revision); err != nil {
			return err
		}
		f.entry, f.rebuilt = &entry, true
	}
	if stateless {
		delete(entries, own)
		f.lostEntries = entries
	}
	return nil
}

// hasDirectoryWithoutEntry reports whether a claim has a directory, but no entry in the state.
func hasDirectoryWithoutEntry(f facts, s *git.Snapshot) bool {
	ours := f.ownMarkerIDs()
	return slices.ContainsFunc(f.spec.Trees, func(t v1alpha1.Tree) bool {
		at, ok, err := s.Entry(t.Path + "/" + tree.Marker)
		return err == nil && ok && slices.Contains(ours, at.ID)
	})
}

// isEncodable is true for an entry that could be read back.
func isEncodable(e state.Entry) bool {
	_, err := e.Encode()
	return err == nil
}

// ownMarkerIDs are the ids of the markers of the claim's directories: those of this cluster, and of the one that it takes over from.
func (f facts) ownMarkerIDs() []string {
	out := []string{objects.BlobID(f.content)}
	before := f.marker
	before.ClusterUID = f.config.TakeOverFrom
	if content, err := before.Encode(); err == nil && before.ClusterUID != "" {
		out = append(out, objects.BlobID(content))
	}
	return out
}

// treesInBranch are the trees of the claim that the branch has. Whose Site a directory is that is not asked for any more is not known.
func treesInBranch(ctx context.Context, f facts, s *git.Snapshot, revision int64) ([]state.Tree, error) {
	sites, ours, out := map[string]string{}, f.ownMarkerIDs(), []state.Tree{}
	for _, t := range f.spec.Trees {
		sites[t.Path] = t.Site
	}
	named, err := s.FilesNamed(ctx, tree.Marker, ours...)
	if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(named)) {
		id, err := s.TreeWithout(path, tree.Marker)
		if err != nil {
			return nil, err
		}
		out = append(out, state.Tree{Branch: f.branchName(), DeliveredTree: v1alpha1.DeliveredTree{
			Site: sites[path], Path: path, Tree: id, Revision: revision,
		}})
	}
	return out, nil
}

// A claimHistory is what all commits of one claim say, the newest first.
type claimHistory struct {
	claim   rolloutv1alpha1.ClaimReference
	commits []commitTrailers
}

// lastWriter is the cluster that wrote the newest commit of a control plane. Empty if it does not say.
func lastWriter(notes []git.Message, controlPlane string) string {
	for _, n := range notes {
		if l, ok := parseCommitTrailers(n); ok && l.controlPlane == controlPlane {
			return l.cluster
		}
	}
	return ""
}

// entriesFromCommits returns the entries of a control plane from what its commits say, by their paths in the state.
func entriesFromCommits(notes []git.Message, ours marker.Marker) map[string]state.Entry {
	tales := map[string]claimHistory{}
	for _, n := range notes {
		l, ok := parseCommitTrailers(n)
		if !ok || l.controlPlane != ours.ControlPlane {
			continue
		}
		key := state.Path(l.claim)
		t := tales[key]
		t.claim, t.commits = l.claim, append(t.commits, l)
		tales[key] = t
	}
	out := map[string]state.Entry{}
	for key, t := range tales {
		entry := t.rebuiltEntry()
		if entry.ClusterUID == "" {
			entry.ClusterUID = ours.ClusterUID
		}
		if isEncodable(entry) {
			out[key] = entry
		}
	}
	return out
}

// rebuiltEntry returns the entry that the commits lead to. They verify nothing: a commit says what was tried, and not how it ended.
func (t claimHistory) rebuiltEntry() state.Entry {
	newest := t.commits[0]
	e := state.Entry{Claim: t.claim, ClusterUID: newest.cluster}
	for _, l := range slices.Backward(t.commits) {
		e = state.Record(e, state.Delivery{Order: l.appliedOrder(), Commit: l.commit, At: l.date})
	}
	for _, l := range t.commits {
		if o := l.appliedOrder(); e.Order.Behind(o) {
			e.Order = &o // Another user repeated an older commit of ours.
		}
	}
	for i := range e.History {
		e.History[i].Trees = nil
	}
	if newest.removes {
		return state.Tombstone(e)
	}
	return e
}
