package directories

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// SiteToObserve returns the Site of a tree of a delivery, which has to run the tree from a step on.
func SiteToObserve(d *deliveryv1alpha1.GitDelivery, t deliveryv1alpha1.Tree, wave int32) deliveryv1alpha1.SiteTree {
	out := deliveryv1alpha1.SiteTree{Name: t.Site, Wave: wave, Path: t.Path, Tree: t.Tree}
	if ref := d.Spec.ProviderConfigReference; ref != nil {
		out.RepositoryRef = deliveryv1alpha1.RepositoryReference{Kind: ref.Kind, Name: ref.Name}
	}
	return out
}

// WaveOf returns the step of a state from which on a Site has to run its tree. Before the steps of a deployment in tracks, and once its revision is alone,
// each Site has to.
func WaveOf(s ledger.State, site string) int32 {
	if s.IsBeforeSteps() || s.HasTracks() && s.Cursor.Stage == ledger.StageAlone {
		return 0
	}
	return s.StepOf(site)
}

// WaveToObserve returns the step of a state from which on a Site with a delivered directory has to run its tree. A Site without a directory gets its first tree
// in the steps, so that no stage before them awaits one.
func WaveToObserve(s ledger.State, site string, delivered deliveryv1alpha1.DeliveredTree) int32 {
	if s.IsBeforeSteps() && s.Cursor.Attempt == 0 && delivered.Tree == "" {
		return max(s.StepOf(site), s.Cursor.Step+1)
	}
	return WaveOf(s, site)
}

// AwaitedRevision returns the revision whose pods have to be available in a directory: the current revision in a step, and its origin before.
func AwaitedRevision(s ledger.State, delivered deliveryv1alpha1.DeliveredTree) int64 {
	stable := s.PastRevision(s.Current.Stable)
	switch {
	case s.Cursor.Attempt > 0:
		return servingRevision(delivered, step.TargetOf(s))
	case s.IsBeforeSteps() && s.TakesBack():
		return 0 // The track that keeps the requests until then was available before it got them.
	case s.IsBeforeSteps() && stable != nil:
		return servingRevision(delivered, stable)
	}
	return s.Current.Number
}

// servingRevision returns the number of the origin of a revision in a directory. An origin without tracks was replaced in place, so that the directory may
// have a later revision. It is 0 for an origin that the ledger does not know.
func servingRevision(delivered deliveryv1alpha1.DeliveredTree, origin *ledger.Past) int64 {
	if origin == nil {
		return 0
	}
	i := slices.IndexFunc(delivered.Tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name == ledger.TrackPlain })
	if i >= 0 && ledger.IsPlain(origin.Track) {
		return delivered.Tracks[i].Revision
	}
	return origin.Number
}
