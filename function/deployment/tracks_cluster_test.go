package deployment

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// A cluster plays the observations of the SiteSync: engines that are done at once, gateways that accept at once, and pods that are available unless
// they are marked as broken.
type cluster struct {
	// broken are the revisions whose pods never come.
	broken map[int64]bool
	// unrouted are the revisions to which no gateway routes a request.
	unrouted map[int64]bool
	// behind is the part of a Site's state that is older than Git. A Site that is not named is not behind.
	behind map[string]behind
	// timesOut is set for a Site that has waited too long for pods, or for requests, that never come.
	timesOut bool
	// rejects says that Gates fail, and isInconclusive that they come to no conclusion.
	rejects, isInconclusive bool
}

// isStuck is true for a Site that waits for pods, or for requests, that never come.
func (w *world) isStuck(want deliveryv1alpha1.SiteTree, c cluster) bool {
	if want.Traffic == nil {
		return false
	}
	return slices.ContainsFunc(want.Traffic.Tracks, func(t deliveryv1alpha1.TrackTraffic) bool {
		revision := w.revisionIn(want.Path, t.Name)
		return t.Awaited && c.broken[revision] || t.Weight > 0 && c.unrouted[revision]
	})
}
