package verdict

import (
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/mandate"
)

// Evidence proves whether the Sites of a Gate run the judged revision.
type Evidence struct {
	// Spec of the Gate.
	Spec v1alpha1.GateParameters
	// Sync is the SiteSync of the Gate. Nil proves nothing.
	Sync *deliveryv1alpha1.SiteSync
	// Deliveries are the GitDeliveries of the Gate's claim.
	Deliveries []deliveryv1alpha1.GitDelivery
	// HasBegun is true for a Gate that has measured.
	HasBegun bool
}

func isSameClaim(a, b v1alpha1.ClaimReference) bool {
	return a.APIGroup == b.APIGroup && a.Namespace == b.Namespace && a.Name == b.Name
}

// LiveSince returns the time from which on a Site is proven to run the judged revision, and zero without a proof. At a Site without an engine that sets
// unobservedIsLive, the delivery counts from its first observation, or from the time when it became ready or synced again.
func (e Evidence) LiveSince(site *catalogv1alpha1.Site, observedAt time.Time) time.Time {
	if site.Spec.Engine.Type != catalogv1alpha1.EngineNone {
		return e.syncedSince(site.GetName())
	}
	start := e.deliveredSince(site.GetName())
	if u := site.Spec.Engine.UnobservedIsLive; u == nil || !*u || start.IsZero() {
		return time.Time{}
	}
	if start.Before(observedAt) {
		return observedAt
	}
	return start
}

// IsReportedHealthy reports whether a Site runs the judged tree, and its engine reports each workload of the tree as healthy. A SiteSync has no health of an
// engine whose report omits a workload.
func (e Evidence) IsReportedHealthy(site string) bool {
	if e.syncedSince(site).IsZero() {
		return false
	}
	return slices.ContainsFunc(e.Sync.Status.AtProvider.Sites, func(o deliveryv1alpha1.SiteObservation) bool {
		return o.Name == site && o.Engine != nil && engines.IsHealthy(o.Engine.Health)
	})
}

// syncedSince returns the time from which on the SiteSync proves a Site live at the judged position, by its current spec, or after it followed the ledger to
// that position. Zero without a proof.
func (e Evidence) syncedSince(site string) time.Time {
	s := e.Sync
	if s == nil || s.GetDeletionTimestamp() != nil || !isSameClaim(s.Spec.ForProvider.ClaimRef, e.Spec.ClaimRef) || !isStatusCurrent(s) {
		return time.Time{}
	}
	judged, observed := e.Spec.AskedPosition(), s.Status.AtProvider.ObservedPosition()
	if !evidence.LatestPosition(s).HasReached(judged) || !observed.HasReached(judged) || e.areSitesPastStep(observed) {
		return time.Time{}
	}
	for _, o := range s.Status.AtProvider.Sites {
		if o.Name == site && o.State == deliveryv1alpha1.SiteLive && o.LiveSince != nil {
			return o.LiveSince.Time
		}
	}
	return time.Time{}
}

// areSitesPastStep reports whether the Sites are at a later step than the step of a Gate that never measured: a user released the step without its Gate.
func (e Evidence) areSitesPastStep(observed ledger.Position) bool {
	return e.Spec.Until == v1alpha1.GateUntilReleased && !e.HasBegun && observed.Step > e.Spec.AskedPosition().Step
}

// IsReleased is true once the SiteSync reports that the step of the Gate's position is released. A deployment at a later step has released it.
func (e Evidence) IsReleased() bool {
	s, judged := e.Sync, e.Spec.AskedPosition()
	if s == nil || s.GetDeletionTimestamp() != nil || !isSameClaim(s.Spec.ForProvider.ClaimRef, e.Spec.ClaimRef) || !isStatusCurrent(s) {
		return false
	}
	requested, latest := s.Spec.ForProvider.AskedPosition(), evidence.LatestPosition(s)
	if latest != judged || s.Status.AtProvider.ObservedPosition() != judged {
		return latest.HasReached(judged) && latest != judged
	}
	c := s.GetCondition(deliveryv1alpha1.TypeReleased)
	if c.Reason == "" {
		return s.Spec.ForProvider.Pause == "" || latest != requested // A later step without a condition has no pause.
	}
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == s.GetGeneration()
}

// PauseEnd returns the end of the pause of the judged step. It is zero for a step without a pause, and for a pause that only a user ends.
func (e Evidence) PauseEnd() time.Time {
	if s := e.Sync; s != nil && s.Status.AtProvider.Pause != nil && s.Status.AtProvider.Pause.Position == e.Spec.AskedPosition() {
		return s.Status.AtProvider.Pause.EndsAt.Time
	}
	return time.Time{}
}

// A conditioned object has conditions, and a generation that they describe.
type conditioned interface {
	GetGeneration() int64
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
}

// isStatusCurrent reports whether the status of an object describes its current generation, and its last observation succeeded.
func isStatusCurrent(o conditioned) bool {
	ready, synced := o.GetCondition(xpv2.TypeReady), o.GetCondition(xpv2.TypeSynced)
	return ready.ObservedGeneration == o.GetGeneration() && synced.Status == corev1.ConditionTrue
}

// deliveredSince returns the time from which on a Site's trees are proven to be in the repository. The conditions of the GitDelivery prove it, also after a
// restart. A Site that moves to another repository has a GitDelivery for each repository until the revision is verified, and the GitDelivery of the old
// repository stays at the previous revision.
func (e Evidence) deliveredSince(site string) time.Time {
	for i := range e.Deliveries {
		d := &e.Deliveries[i]
		if !deliversToSite(d, site) {
			continue
		}
		ready, synced := d.GetCondition(xpv2.TypeReady), d.GetCondition(xpv2.TypeSynced)
		isDelivered := ready.Status == corev1.ConditionTrue && isStatusCurrent(d) && d.GetDeletionTimestamp() == nil
		judged := e.Spec.AskedPosition()
		if !isDelivered || !mandate.Position(d).HasReached(judged) || !d.Status.AtProvider.AppliedPosition().HasReached(judged) {
			continue
		}
		if synced.LastTransitionTime.After(ready.LastTransitionTime.Time) {
			return synced.LastTransitionTime.Time
		}
		return ready.LastTransitionTime.Time
	}
	return time.Time{}
}

func deliversToSite(d *deliveryv1alpha1.GitDelivery, site string) bool {
	for t := range d.Spec.ForProvider.EachTree() {
		if t.Site == site {
			return true
		}
	}
	return false
}
