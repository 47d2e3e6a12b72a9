package gitdelivery

import "github.com/intentplane/intentplane/apis/delivery/v1alpha1"

// restoreTracks shows the directories with tracks that the record has, before that is shown. An object that was lost, or restored from a backup, may be refused
// as behind at first. What it says of the position would else go with no tracks, or with those that the directories had before, and the function would take a
// track that gets requests for one that gets none.
func (e *external) restoreTracks(d *v1alpha1.GitDelivery) {
	at, r := &d.Status.AtProvider, e.facts.memory
	if r == nil || !hasTracks(r.Trees) {
		return
	}
	if isMissing := len(at.Trees) == 0; isMissing || !e.facts.rebuilt {
		at.Trees = r.ShownTrees()
	}
}
