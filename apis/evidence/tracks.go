package evidence

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TracksOf returns the tracks of the directory of a Site, from the last report of its repository and the SiteSync's observation of the Site. It returns nil
// for a directory that was never delivered. Pods without tracks count as available, since they already serve.
func TracksOf(s ledger.State, site string, delivered deliveryv1alpha1.DeliveredTree, observed deliveryv1alpha1.SiteObservation) map[string]step.Track {
	if len(delivered.Tracks) == 0 && delivered.Tree == "" {
		return nil
	}
	if len(delivered.Tracks) == 0 {
		return map[string]step.Track{ledger.TrackPlain: {Revision: revisionOfTree(s, site, delivered), Weight: 100, IsProven: true}} //nolint:mnd // All requests, in percent.
	}
	out := map[string]step.Track{}
	for _, t := range delivered.Tracks {
		proof := TrackOf(observed, t.Name)
		out[t.Name] = step.Track{Revision: t.Revision, Weight: t.Weight, IsProven: hasAvailablePods(t, proof), IsIdle: isTrackIdle(t, proof)}
	}
	return out
}

// revisionOfTree returns the revision that delivered the tree of a directory: the revision that the directory was restored to, or else its last writer.
func revisionOfTree(s ledger.State, site string, delivered deliveryv1alpha1.DeliveredTree) int64 {
	for _, p := range slices.Backward(s.History) {
		if slices.ContainsFunc(p.Trees, func(t ledger.SiteTree) bool { return t.Site == site && t.ID == delivered.Tree }) {
			return p.Number
		}
	}
	return delivered.Revision
}

// hasAvailablePods reports whether the pods of the folder of a track were available after the last change of the folder. The id alone does not prove it: a
// folder can be removed and added again between two observations of a SiteSync. Neither does the position: within one position a folder can change after the
// observation of its pods.
func hasAvailablePods(t deliveryv1alpha1.DeliveredTrack, proof deliveryv1alpha1.TrackObservation) bool {
	isAfterChange := t.ChangedAt == nil || proof.AvailableAt != nil && proof.AvailableAt.Compare(*t.ChangedAt) >= 0
	return proof.AvailableTree != "" && proof.AvailableTree == t.Tree && isAfterChange
}

// isTrackIdle reports whether a track was proven to get no requests, for the time of the drain, after the last position that gave it requests.
func isTrackIdle(t deliveryv1alpha1.DeliveredTrack, proof deliveryv1alpha1.TrackObservation) bool {
	return t.WeighedAt == nil || proof.Idle && proof.ProvenAt != nil && proof.ProvenAt.Compare(*t.WeighedAt) > 0
}

// TrackOf returns the observation of a track of a Site. It is empty for a track without an observation.
func TrackOf(s deliveryv1alpha1.SiteObservation, name string) deliveryv1alpha1.TrackObservation {
	if s.Traffic == nil {
		return deliveryv1alpha1.TrackObservation{Name: name}
	}
	for _, t := range s.Traffic.Tracks {
		if t.Name == name {
			return t
		}
	}
	return deliveryv1alpha1.TrackObservation{Name: name}
}
