package gitdelivery

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// restoreTracks shows the recorded directories with tracks in the status, before the status shows the record. An object that was lost, or restored from a
// backup, may be refused as behind at first. Otherwise its status would have the recorded position with no tracks, or with the previous tracks, and the
// function would take a track that gets requests for a track without requests.
func (e *external) restoreTracks(d *v1alpha1.GitDelivery) {
	observed, r := &d.Status.AtProvider, e.facts.Memory
	if r == nil || !hasTracks(r.Trees) {
		return
	}
	if isMissing := len(observed.Trees) == 0; isMissing || !e.facts.Rebuilt {
		observed.Trees = r.ShownTrees()
	}
}

func hasTracks(trees []state.Tree) bool {
	return slices.ContainsFunc(trees, func(t state.Tree) bool { return len(t.Tracks) > 0 })
}
