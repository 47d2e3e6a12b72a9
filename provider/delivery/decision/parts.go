package decision

import (
	"fmt"
	"maps"
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/state"
)

// withParts adds the files of the parts of a tree to its own.
func (f Facts) withParts(t v1alpha1.Tree, files tree.Files) tree.Files {
	if len(t.Parts) == 0 {
		return files
	}
	out := maps.Clone(files)
	for _, p := range t.Parts {
		for name, content := range f.Parts[p.Tree] {
			out[p.Path+"/"+name] = content
		}
	}
	return out
}

// HasTracks is true for a delivery with tracks in its spec or in its status.
func (f Facts) HasTracks() bool {
	isAsked := slices.ContainsFunc(f.Spec.Trees, func(t v1alpha1.Tree) bool { return len(t.Tracks)+len(t.Parts) > 0 })
	return isAsked || slices.ContainsFunc(f.LastStatus.Trees, func(t v1alpha1.DeliveredTree) bool { return len(t.Tracks) > 0 })
}

// TrackByRevision returns the tracks of the revisions in the ledger, by number.
func (f Facts) TrackByRevision() map[int64]string {
	out := map[int64]string{}
	for _, p := range f.Recording.Applied.History {
		out[p.Number] = p.Track
	}
	if r := f.Recording.Applied.Current; r != nil {
		out[r.Number] = r.Track
	}
	return out
}

// DeriveTree derives the tree with an id from a directory with tracks: the directory with one track alone, or the folder of that track. So a rollback may
// restore a revision whose track was never alone in the repository. folder is empty for a whole directory.
func DeriveTree(files map[string][]byte, id, folder string) (map[string][]byte, bool) {
	for _, name := range []string{track.Blue, track.Green} {
		whole, part, err := aloneFiles(files, name)
		switch {
		case err != nil:
		case folder == "" && tree.ID(whole) == id:
			return whole, true
		case folder == name && tree.ID(part) == id:
			return part, true
		}
	}
	return nil, false
}

// aloneFiles returns the files of a directory in which a track is alone at full size, and the files of the track's folder.
func aloneFiles(files tree.Files, name string) (whole, folder tree.Files, err error) {
	whole, err = track.At(files, track.State{Serving: name, Alone: true})
	return whole, whole.InFolder(name), err
}

// TargetTrees returns, by path, the trees for a later rollback to the current revision, if its track gets all requests, and the files of these trees by
// id. It omits a directory without such a track.
func (f Facts) TargetTrees() (map[string]v1alpha1.HistoryTree, map[string]tree.Files) {
	out, files := map[string]v1alpha1.HistoryTree{}, map[string]tree.Files{}
	for _, t := range f.Spec.Trees {
		for _, treeTrack := range t.Tracks {
			if t.Action != v1alpha1.ActionDesired || treeTrack.Weight != 100 || treeTrack.Revision != f.AppliedPosition().Revision || treeTrack.Name == track.Plain {
				continue // The tree of a revision without tracks cannot be derived from a directory with tracks.
			}
			whole, folder, err := aloneFiles(f.DecodedFiles(t), treeTrack.Name)
			if err != nil {
				continue // The checks accept such files. A rollback restores them unchanged.
			}
			h := v1alpha1.HistoryTree{Site: t.Site, Tree: tree.ID(whole), Part: tree.ID(folder)}
			out[t.Path], files[h.Tree], files[h.Part] = h, whole, folder
		}
	}
	return out, files
}

// deliveredTracks returns the tracks that a directory has once a tree is in the repository.
func (f Facts) deliveredTracks(t v1alpha1.Tree, delivered state.Tree) []v1alpha1.DeliveredTrack {
	if len(t.Tracks) == 0 {
		return nil
	}
	var out []v1alpha1.DeliveredTrack
	files := f.DecodedFiles(t)
	for _, treeTrack := range t.Tracks {
		now := v1alpha1.DeliveredTrack{
			Name: treeTrack.Name, Revision: treeTrack.Revision, Weight: treeTrack.Weight,
			Tree: tree.ID(files.InFolder(treeTrack.Name)), ChangedAt: new(f.AppliedPosition()),
		}
		if previous := state.FindTrack(delivered.Tracks, treeTrack.Name); previous != nil {
			now.WeighedAt = previous.WeighedAt
			if previous.Tree == now.Tree && previous.ChangedAt != nil {
				now.ChangedAt = previous.ChangedAt
			}
		}
		// A position may request the delivered weight until all repositories report it, and only then remove it.
		if treeTrack.Weight > 0 && (now.WeighedAt == nil || delivered.Tree != t.Tree) {
			now.WeighedAt = new(f.AppliedPosition())
		}
		out = append(out, now)
	}
	return out
}

// checkParts refuses parts that conflict with the files or are missing from the repository, and a directory that does not match its id.
func checkParts(f Facts, t v1alpha1.Tree, field string, files tree.Files) *Decision {
	ids := map[string]string{}
	for i, p := range t.Parts {
		partField := fmt.Sprintf("%s.parts[%d]", field, i)
		if _, isTaken := ids[p.Path]; isTaken {
			return refuse(v1alpha1.ReasonInvalid, "%s.path: another part is %s", partField, p.Path)
		}
		if !track.IsTrack(p.Path) {
			return refuse(v1alpha1.ReasonInvalid, "%s.path: %q is not the name of a track", partField, p.Path)
		}
		ids[p.Path] = p.Tree
	}
	id, err := tree.GraftedID(files, ids)
	if err != nil {
		return refuse(v1alpha1.ReasonInvalid, "%s.parts: %s", field, err)
	}
	if id != t.Tree {
		return refuse(v1alpha1.ReasonInvalid, "%s.tree: the files and parts are tree %s, not %s", field, id, t.Tree)
	}
	for i, p := range t.Parts {
		if _, ok := f.Parts[p.Tree]; !ok {
			return refuse(v1alpha1.ReasonTreeGone, "%s.tree: folder %s of track %s is not in the repository any more: neither the state nor the branch has it; %s",
				fmt.Sprintf("%s.parts[%d]", field, i), p.Tree, p.Path, changeIntent)
		}
	}
	return nil
}

// checkTracks refuses tracks that differ from the folders of the directory, and weights that do not add up to 100 percent.
func checkTracks(t v1alpha1.Tree, field string, whole tree.Files) *Decision {
	if len(t.Tracks) == 0 {
		return nil
	}
	total, named := int32(0), map[string]bool{}
	for i, treeTrack := range t.Tracks {
		if named[treeTrack.Name] || len(whole.InFolder(treeTrack.Name)) == 0 {
			return refuse(v1alpha1.ReasonInvalid, "%s.name: the directory has no folder %s, or another entry names it",
				fmt.Sprintf("%s.tracks[%d]", field, i), treeTrack.Name)
		}
		named[treeTrack.Name], total = true, total+treeTrack.Weight
	}
	for _, name := range track.Names() {
		if !named[name] && len(whole.InFolder(name)) > 0 {
			return refuse(v1alpha1.ReasonInvalid, "%s.tracks: the directory has a folder %s, which no entry names", field, name)
		}
	}
	if total != 100 {
		return refuse(v1alpha1.ReasonInvalid, "%s.tracks: the weights add up to %d percent, and not to 100", field, total)
	}
	return nil
}
