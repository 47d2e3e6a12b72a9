package gitdelivery

import (
	"context"
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// recover the entry of a state that was lost from what our commits say. Where there is no state at all, those of all other claims are
// recovered with it: whoever comes first writes them, or a claim that was deleted would begin to count anew.
func (e *external) recover(ctx context.Context, f *facts, s *git.Snapshot) error {
	stateless := s.StateTip() == ""
	if f.entry != nil || f.unreadable != "" || s.Tip() == "" || (!stateless && f.memory.Order != nil) {
		return nil
	}
	dirs, err := markedDirs(s)
	if err != nil || (!stateless && len(dirs.of(*f)) == 0) {
		return err
	}
	notes, err := e.repo.Notes(ctx, s, trailerClaim+": ")
	if git.ClassOf(err) == git.ClassTooLarge {
		return nil // What cannot be read says nothing.
	}
	if err != nil {
		return err
	}
	tales := recollect(notes, f.marker.ControlPlane)
	f.others = map[string]state.Entry{}
	for _, t := range tales {
		entry := t.entry()
		if entry.ClusterUID == "" {
			entry.ClusterUID = f.marker.ClusterUID
		}
		if !readable(entry) {
			continue
		}
		if path := state.Path(entry.Claim, entry.Shard); path != state.Path(f.spec.ClaimRef, f.marker.Shard) {
			if stateless {
				f.others[path] = entry
			}
			continue
		}
		if f.memory.Order == nil {
			entry.Trees = dirs.trees(*f, s, entry)
			f.entry, f.rebuilt = &entry, true
		}
	}
	return nil
}

// readable is true for an entry that could be read back.
func readable(e state.Entry) bool {
	content, err := e.Encode()
	if err != nil {
		return false
	}
	_, err = state.Decode(content)
	return err == nil
}

// dirs are the directories of the branch that have a marker, by the id of the marker.
type dirs map[string][]string

func markedDirs(s *git.Snapshot) (dirs, error) {
	named, err := s.Named(tree.Marker)
	out := dirs{}
	for path, id := range named {
		out[id] = append(out[id], path)
	}
	return out, err
}

// of the claim, written by this cluster or by the one that it takes over from.
func (d dirs) of(f facts) []string {
	out := slices.Clone(d[git.BlobID(f.content)])
	if f.config.TakeOverFrom != "" && f.config.TakeOverFrom != f.marker.ClusterUID {
		out = append(out, d[markerID(f.marker, f.config.TakeOverFrom)]...)
	}
	slices.Sort(out)
	return out
}

func markerID(m marker.Marker, clusterUID string) string {
	m.ClusterUID = clusterUID
	content, err := m.Encode()
	if err != nil {
		return ""
	}
	return git.BlobID(content)
}

// trees of the claim as the branch has them. Whose Site a directory is that is not asked for any more is not known.
func (d dirs) trees(f facts, s *git.Snapshot, e state.Entry) []state.Tree {
	sites := map[string]string{}
	for _, t := range f.spec.Trees {
		sites[t.Path] = t.Site
	}
	out := []state.Tree{}
	for _, path := range d.of(f) {
		id, err := s.Without(path, tree.Marker)
		if err != nil {
			continue // A path that is refused is none of ours.
		}
		out = append(out, state.Tree{Branch: f.branch(), DeliveredTree: v1alpha1.DeliveredTree{
			Site: sites[path], Path: path, Tree: id, Revision: e.Order.Revision,
		}})
	}
	return out
}

// A tale is what all commits of one claim's shard say, the newest first.
type tale struct {
	claim   rolloutv1alpha1.ClaimReference
	shard   int32
	letters []witness
}

// recollect what a control plane did, claim by claim.
func recollect(notes []git.Note, controlPlane string) []tale {
	out, at := []tale{}, map[string]int{}
	for _, n := range notes {
		l, ok := parseWitness(n)
		if !ok || l.controlPlane != controlPlane {
			continue
		}
		key := state.Path(l.claim, l.shard)
		if _, known := at[key]; !known {
			at[key] = len(out)
			out = append(out, tale{claim: l.claim, shard: l.shard})
		}
		out[at[key]].letters = append(out[at[key]].letters, l)
	}
	return out
}

// entry that the tale tells of. Nothing is verified by it: a commit says what was tried, and not how it ended.
func (t tale) entry() state.Entry {
	newest := t.letters[0]
	e := state.Entry{Claim: t.claim, Shard: t.shard, ClusterUID: newest.cluster}
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
