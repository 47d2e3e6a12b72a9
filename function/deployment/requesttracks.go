package deployment

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/compose/tracks"
)

// areTracksKnown is true if the repository of a delivery was brought to the recorded position.
func (o Observed) areTracksKnown(d *deliveryv1alpha1.GitDelivery) bool {
	return o.home.IsKnown && o.home.State.Current != nil && d != nil && evidence.HasApplied(d, o.home.State.Position())
}

// isTrackDraining is true while some directory has the track that a verified revision took the requests from.
func (o Observed) isTrackDraining(s ledger.State) bool {
	if !s.HasTracks() || !s.IsVerified() {
		return false
	}
	for _, part := range s.Current.Parts {
		for _, site := range part.Sites {
			delivered, _ := evidence.HeldTreeAt(o.deliveries[part.Delivery], site)
			if slices.ContainsFunc(delivered.Tracks, func(t deliveryv1alpha1.DeliveredTrack) bool { return t.Name != s.Current.Folder() }) {
				return true
			}
		}
	}
	return false
}

// requestTracks requests the trees of a deployment in tracks, as far as its stages and steps have come.
func (dr decider) requestTracks(s ledger.State) (desiredResources, error) {
	c, a := dr.trackComposer(s), desiredResources{}
	switch {
	case s.Cursor.Attempt > 0:
		resumed := c.Config
		resumed.DeliveryTimeout = resumed.SyncWaitTimeout
		c.Base = compose.Resume(dr.revisionParts(s), resumed)
	case !s.IsRejected() && dr.isRequestOf(s) && dr.compiled.desired.Placement.Track == s.Current.Track:
		c.IsOwn = true
		inherited := compose.Inherit(dr.compiled.deliveries, dr.observed.deliveries)
		c.Base = compose.RetainUnreadySites(inherited, dr.observed.deliveries, dr.observed.sync, s, dr.compiled.clustered)
	default:
		parts := dr.revisionParts(s)
		c.Base, a.isResumed = compose.Resume(parts, c.Config), true
		a.isLost = !s.IsRejected() && !compose.CanResume(parts, s)
		a.isRendererHeld = !s.IsRejected() && dr.isRendererHeld(s)
	}
	composed, err := c.Compose()
	a.deliveries, a.sync, a.alone, a.lostFiles = composed.Deliveries, composed.Sync, composed.Alone, composed.LostFiles
	return a, err
}

// trackComposer returns the composer of a deployment in tracks, without the deliveries whose trees are brought to their aims.
func (dr decider) trackComposer(s ledger.State) tracks.Composer {
	return tracks.Composer{
		Claim: dr.in.Claim, Config: dr.deliveryConfig(s), State: s, Step: stepInput(dr.in, dr.observed, dr.compiled, s),
		Observed: dr.observed.deliveries, Recorded: dr.observed.home.State.Position(), Sync: dr.observed.sync, SitesAsked: dr.observed.sitesAsked,
		Rendered: dr.compiled.deliveries, IsRendered: dr.isRevisionRendered(s), AwaitsFiles: dr.awaitsRendering(),
		Unobserved: dr.compiled.unobserved, IsChosen: dr.compiled.isChosenSite, Tracker: dr.compiled.tracker,
	}
}

// isRevisionRendered is true if the spec requests the current revision, in its track. A rollback needs the shared objects of the tracks, whatever track the revision
// would have now.
func (dr decider) isRevisionRendered(s ledger.State) bool {
	isInTrack := dr.compiled.desired.Placement.Track == s.Current.Track
	return dr.isRequestOf(s) && (isInTrack || s.Cursor.Attempt > 0)
}

// awaitsRendering is true while the rendered files are unknown, since rendering exceeded its timeout, and is retried.
func (dr decider) awaitsRendering() bool {
	return dr.compiled.Problem != nil && dr.compiled.Problem.Retried
}

// proofWithLoneTrees adds to the proof about a deployment in tracks the trees in which its revision is alone.
func (p proposedState) proofWithLoneTrees(proof step.Proof) step.Proof {
	if !p.state.HasTracks() || p.state.Cursor.Attempt > 0 || !p.state.IsAtLastStep() {
		return proof
	}
	for i, t := range proof.Trees {
		alone, ok := p.asked.alone[t.Site]
		if !ok {
			proof.IsLive = false // A rollback could not go to the revision.
			continue
		}
		proof.Trees[i] = alone
	}
	return proof
}
