package evidence

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/rollout"
)

// AreSitesLive is true when a SiteSync proves that the Sites of an order's step run the trees that it names.
func AreSitesLive(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) bool {
	return hasReady(s, corev1.ConditionTrue) && IsSyncAbout(s, o)
}

// IsSyncAbout is true when the status of a SiteSync is about an order.
func IsSyncAbout(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) bool {
	return isSyncOrder(s.Spec.ForProvider.Order, o) && s.Status.AtProvider.Order != nil && isSyncOrder(*s.Status.AtProvider.Order, o)
}

// AdmitsSite is true when a SiteSync observed that the cluster of a Site was ready for an order.
func AdmitsSite(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order, site string) bool {
	return HasObserved(s, o, site) &&
		slices.ContainsFunc(s.Status.AtProvider.Sites, func(seen deliveryv1alpha1.SiteObservation) bool {
			return seen.Name == site && seen.Cluster != nil && seen.Cluster.PassedAt != nil
		})
}

// HasObserved reports whether a SiteSync observed a Site for an order.
func HasObserved(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order, site string) bool {
	if s == nil || s.Status.AtProvider.Order == nil {
		return false
	}
	was := *s.Status.AtProvider.Order
	return was.Request == o.Request && rollout.HasBrought(was.Position(), o, site)
}

// isSyncOrder is true for an order of a SiteSync that observes what another order asks for.
func isSyncOrder(of, o rolloutv1alpha1.Order) bool {
	return areAlike(rollout.OrderForSync(of), rollout.OrderForSync(o))
}

// areAlike is true for two orders that ask for the same, whatever they came to.
func areAlike(a, b rolloutv1alpha1.Order) bool { return a.Unjudged().Same(b.Unjudged()) }

// SyncFailure returns the rejection that follows from what a SiteSync reports of an order, or nil.
func SyncFailure(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) *ledger.Verdict {
	if !hasReady(s, corev1.ConditionFalse) || !IsSyncAbout(s, o) {
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

// IsSyncAhead is true for a SiteSync that observes a newer order than the one that it is asked for, and refuses this one. A SiteSync records nothing:
// where objects and states were lost, it is only in the way.
func IsSyncAhead(s *deliveryv1alpha1.SiteSync, o rolloutv1alpha1.Order) bool {
	return hasReady(s, corev1.ConditionFalse) && isSyncOrder(s.Spec.ForProvider.Order, o) &&
		s.GetCondition(xpv2.TypeReady).Reason == deliveryv1alpha1.ReasonOrderBehind
}
