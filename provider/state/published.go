package state

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const (
	// maxShown trees are shown of the whole history, beside the trees of the revisions that are always shown. More would not leave an object
	// room for its own content.
	maxShown = 500

	// alwaysShown is how many good revisions have their trees in a status even without room: the running revision, the target of the next
	// revision's rollback, and its predecessor, the target of a user's rollback.
	alwaysShown = 2
)

// TreeIDs returns the ids of all trees that the record names, each once, in order.
func (r RecordFile) TreeIDs() []string {
	out := []string{}
	for _, t := range r.Trees {
		out = append(out, t.Tree)
		for _, track := range t.Tracks {
			out = append(out, track.Tree)
		}
	}
	for _, h := range r.Revisions {
		for _, t := range h.Trees {
			out = append(out, t.Tree, t.Part)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(id string) bool { return id == "" })
}

// HighestNumber returns the highest number that a revision had, as far as the record says.
func (r RecordFile) HighestNumber() int64 {
	out := max(r.LastNumber, r.Position.Revision)
	if r.Copy != nil {
		out = max(out, r.Copy.LastNumber)
	}
	return out
}

// FindTree returns the first directory at a path of a branch.
func FindTree(trees []Tree, branch, path string) (Tree, bool) {
	i := slices.IndexFunc(trees, func(t Tree) bool { return t.Branch == branch && t.Path == path })
	if i < 0 {
		return Tree{}, false
	}
	return trees[i], true
}

// FindTrack returns a track of a directory, or nil.
func FindTrack(tracks []deliveryv1alpha1.DeliveredTrack, name string) *deliveryv1alpha1.DeliveredTrack {
	i := slices.IndexFunc(tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &tracks[i]
}

// ShownTrees returns the directories as a status holds them: the directories of the revision first, and as many of the left directories as
// there is room for. The others are known from the state, and without that by their markers.
func (r RecordFile) ShownTrees() []deliveryv1alpha1.DeliveredTree {
	var out []deliveryv1alpha1.DeliveredTree
	for _, t := range r.Trees[:min(len(r.Trees), maxNamed)] {
		out = append(out, t.DeliveredTree)
	}
	return out
}

// Shown returns a copy of the history as a status holds it. The two newest good revisions have their trees, and as many of the others as
// there is room for, rollback targets first.
func (r RecordFile) Shown() []deliveryv1alpha1.HistoryEntry {
	var out []deliveryv1alpha1.HistoryEntry
	for _, h := range r.Revisions {
		out = append(out, *h.DeepCopy())
	}
	room := maxShown
	for rank, i := range byRollbackValue(out) {
		n := len(out[i].Trees)
		if n > room && (rank >= alwaysShown || !out[i].IsTarget) {
			out[i].Trees = nil
			continue
		}
		room -= n
	}
	return out
}

// byRollbackValue returns the indexes of a history's revisions, by the value of their trees: a rollback restores only good revisions, and
// newer ones come first.
func byRollbackValue(history []deliveryv1alpha1.HistoryEntry) []int {
	var worth, rest []int
	for i, h := range slices.Backward(history) {
		if h.IsTarget {
			worth = append(worth, i)
			continue
		}
		rest = append(rest, i)
	}
	return append(worth, rest...)
}
