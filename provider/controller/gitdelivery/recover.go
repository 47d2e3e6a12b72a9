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

// recover the entry of a state that was lost from what our commits say. Where there is no state at all, those of all other claims are
// recovered with it: whoever comes first writes them, or a claim that was deleted would begin to count anew.
func (e *external) recover(ctx context.Context, f *facts, s *git.Snapshot) error {
	if f.entry != nil || f.unreadable != "" || s.Tip() == "" {
		return nil
	}
	stateless := s.Stateless()
	if !stateless && !bereft(*f, s) {
		return nil // A new claim.
	}
	notes, err := e.repo.ReadMessages(ctx, s, trailerClaim+": ")
	if failure.ClassOf(err) == failure.ClassTooLarge {
		return nil // What cannot be read says nothing.
	}
	if err != nil || len(notes) == 0 {
		return err
	}
	entries := recollect(notes, f.marker)
	if stateless {
		f.owner = lastWriter(notes, f.marker.ControlPlane)
	}
	own := state.Path(f.spec.ClaimRef)
	if entry, told := entries[own]; told && (f.memory.Order == nil || f.sameCluster(entry.ClusterUID)) {
		if entry.Trees, err = branchTrees(ctx, *f, s, entry.Order.Revision); err != nil {
			return err
		}
		f.entry, f.rebuilt = &entry, true
	}
	if stateless {
		delete(entries, own)
		f.others = entries
	}
	return nil
}

// bereft is true for a claim that has a directory, and no entry in the state.
func bereft(f facts, s *git.Snapshot) bool {
	ours := f.markers()
	return slices.ContainsFunc(f.spec.Trees, func(t v1alpha1.Tree) bool {
		at, ok, err := s.Entry(t.Path + "/" + tree.Marker)
		return err == nil && ok && slices.Contains(ours, at.ID)
	})
}

// readable is true for an entry that could be read back.
func readable(e state.Entry) bool {
	_, err := e.Encode()
	return err == nil
}

// markers are the ids of the markers of the claim's directories: those of this cluster, and of the one that it takes over from.
func (f facts) markers() []string {
	out := []string{objects.BlobID(f.content)}
	before := f.marker
	before.ClusterUID = f.config.TakeOverFrom
	if content, err := before.Encode(); err == nil && before.ClusterUID != "" {
		out = append(out, objects.BlobID(content))
	}
	return out
}

// branchTrees are the trees of the claim that the branch has. Whose Site a directory is that is not asked for any more is not known.
func branchTrees(ctx context.Context, f facts, s *git.Snapshot, revision int64) ([]state.Tree, error) {
	sites, ours, out := map[string]string{}, f.markers(), []state.Tree{}
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
		out = append(out, state.Tree{Branch: f.branch(), DeliveredTree: v1alpha1.DeliveredTree{
			Site: sites[path], Path: path, Tree: id, Revision: revision,
		}})
	}
	return out, nil
}

// A tale is what all commits of one claim say, the newest first.
type tale struct {
	claim   rolloutv1alpha1.ClaimReference
	letters []witness
}

// lastWriter is the cluster that wrote the newest commit of a control plane. Empty if it does not say.
func lastWriter(notes []git.Message, controlPlane string) string {
	for _, n := range notes {
		if l, ok := parseWitness(n); ok && l.controlPlane == controlPlane {
			return l.cluster
		}
	}
	return ""
}

// recollect the entries of a control plane from what its commits say, by their paths in the state.
func recollect(notes []git.Message, ours marker.Marker) map[string]state.Entry {
	tales := map[string]tale{}
	for _, n := range notes {
		l, ok := parseWitness(n)
		if !ok || l.controlPlane != ours.ControlPlane {
			continue
		}
		key := state.Path(l.claim)
		t := tales[key]
		t.claim, t.letters = l.claim, append(t.letters, l)
		tales[key] = t
	}
	out := map[string]state.Entry{}
	for key, t := range tales {
		entry := t.entry()
		if entry.ClusterUID == "" {
			entry.ClusterUID = ours.ClusterUID
		}
		if readable(entry) {
			out[key] = entry
		}
	}
	return out
}

// entry that the tale tells of. Nothing is verified by it: a commit says what was tried, and not how it ended.
func (t tale) entry() state.Entry {
	newest := t.letters[0]
	e := state.Entry{Claim: t.claim, ClusterUID: newest.cluster}
	for _, l := range slices.Backward(t.letters) {
		e = state.Record(e, state.Delivery{Order: l.order(), Commit: l.commit, At: l.date})
	}
	for _, l := range t.letters {
		if o := l.order(); e.Order.Behind(o) {
			e.Order = &o // Somebody repeated an older commit of ours.
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
