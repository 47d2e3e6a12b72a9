package evidence

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// AreSitesLive is true when a SiteSync proves that the Sites of a position run the trees that it names.
func AreSitesLive(s *deliveryv1alpha1.SiteSync, position ledger.Position) bool {
	return hasReadyStatus(s, corev1.ConditionTrue) && IsSyncAbout(s, position)
}

// IsSyncAbout is true when the status of a SiteSync is about a position: the position that it is asked for, or a later one to which it followed the ledger.
func IsSyncAbout(s *deliveryv1alpha1.SiteSync, position ledger.Position) bool {
	return LatestPosition(s) == position && s.Status.AtProvider.ObservedPosition() == position
}

// AdmitsTree is true when a SiteSync that looks for a tree observed that the cluster of its Site was ready.
func AdmitsTree(s *deliveryv1alpha1.SiteSync, state ledger.State, t deliveryv1alpha1.Tree) bool {
	return HasObserved(s, state, t.Site) &&
		slices.ContainsFunc(s.Spec.ForProvider.Sites, func(siteTree deliveryv1alpha1.SiteTree) bool {
			return siteTree.Name == t.Site && siteTree.Tree == t.Tree
		}) &&
		slices.ContainsFunc(s.Status.AtProvider.Sites, func(observation deliveryv1alpha1.SiteObservation) bool {
			return observation.Name == t.Site && observation.Cluster != nil && observation.Cluster.PassedAt != nil
		})
}

// HasObserved is true when a SiteSync observed a Site in the attempt of a state, and at the step of the Site or a later one.
func HasObserved(s *deliveryv1alpha1.SiteSync, state ledger.State, site string) bool {
	return s != nil && hasPositionReached(s.Status.AtProvider.ObservedPosition(), state, site)
}

// SyncFailure returns the rejection that follows from the report of a SiteSync about the position of a state, or nil. In tracks, a failure of an engine before the
// steps does not count: the failing pods may be of the track that loses its requests. That it took too long counts.
func SyncFailure(s *deliveryv1alpha1.SiteSync, state ledger.State) *ledger.Verdict {
	v := syncRejection(s, state.Position())
	if state.IsBeforeSteps() && v != nil && v.Reason == rolloutv1alpha1.RejectedSyncFailed {
		return nil
	}
	return v
}

// syncRejection returns the rejection that follows from the Ready condition of a SiteSync about a position, or nil.
func syncRejection(s *deliveryv1alpha1.SiteSync, position ledger.Position) *ledger.Verdict {
	if !hasReadyStatus(s, corev1.ConditionFalse) || !IsSyncAbout(s, position) {
		return nil
	}
	switch s.GetCondition(xpv2.TypeReady).Reason {
	case deliveryv1alpha1.ReasonClusterTimedOut:
		return rejectionBy(rolloutv1alpha1.RejectedClusterTimedOut, "SiteSync", s)
	case deliveryv1alpha1.ReasonTimedOut:
		return rejectionBy(rolloutv1alpha1.RejectedSyncTimedOut, "SiteSync", s)
	case deliveryv1alpha1.ReasonFailed:
		return rejectionBy(rolloutv1alpha1.RejectedSyncFailed, "SiteSync", s)
	}
	return nil
}

// IsSyncReleased is true when a SiteSync reports that the pause of a position is over. None reports nothing.
func IsSyncReleased(s *deliveryv1alpha1.SiteSync, position ledger.Position) bool {
	if s == nil {
		return false
	}
	c := s.GetCondition(deliveryv1alpha1.TypeReleased)
	return IsSyncAbout(s, position) && c.Status == corev1.ConditionTrue && c.ObservedGeneration == s.GetGeneration()
}
