package sitehealth

import (
	"context"
	"sync"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/usage"
)

// An engineReader reads the reports of the engines of a claim's Sites, from its SiteSyncs. They are listed once, and only if a Site cannot be
// observed or has a route.
type engineReader struct {
	kube  client.Reader
	claim rolloutv1alpha1.ClaimReference

	once  sync.Once
	syncs []v1alpha1.SiteSync
	err   error
}

// isEngineHealthy reports whether the engine of a Site runs the claim's desired tree, and reports it healthy. It returns an error if the SiteSyncs
// cannot be listed. It is safe for concurrent use.
func (r *engineReader) isEngineHealthy(ctx context.Context, site string) (bool, error) {
	r.once.Do(func() { r.syncs, r.err = usage.SyncsOfClaim(ctx, r.kube, r.claim.Namespace, r.claim) })
	for i := range r.syncs {
		if isSyncCurrent(&r.syncs[i]) && reportsHealthy(r.syncs[i].Status.AtProvider.Sites, site) {
			return true, r.err
		}
	}
	return false, r.err
}

// A delivery is a revision, and its tree at a Site. The tree changes within a revision when the shares of the tracks do. Revision 0 is none.
type delivery struct {
	revision int64
	tree     string
}

// provenDelivery returns the delivery that a Site is proven to run, or the zero value. It returns an error if the SiteSyncs cannot be listed. It is safe for
// concurrent use.
func (r *engineReader) provenDelivery(ctx context.Context, site string) (delivery, error) {
	r.once.Do(func() { r.syncs, r.err = usage.SyncsOfClaim(ctx, r.kube, r.claim.Namespace, r.claim) })
	for i := range r.syncs {
		position := r.syncs[i].Status.AtProvider.ObservedPosition()
		if !isSyncCurrent(&r.syncs[i]) || position.Attempt > 0 {
			continue // A rollback delivers the trees of an earlier revision.
		}
		for _, o := range r.syncs[i].Status.AtProvider.Sites {
			if o.Name == site && o.State == v1alpha1.SiteLive {
				return delivery{revision: position.Revision, tree: o.Tree}, r.err
			}
		}
	}
	return delivery{}, r.err
}

// isSyncCurrent reports whether the status of a SiteSync is about its present spec and position, and its last look went well.
func isSyncCurrent(s *v1alpha1.SiteSync) bool {
	ready, synced := s.GetCondition(xpv2.TypeReady), s.GetCondition(xpv2.TypeSynced)
	isOfSpec := ready.ObservedGeneration == s.GetGeneration() && synced.Status == corev1.ConditionTrue && s.GetDeletionTimestamp() == nil
	return isOfSpec && evidence.LatestPosition(s) == s.Status.AtProvider.ObservedPosition()
}

// reportsHealthy reports whether a Site is live, and its engine has checked the health of each workload that it applied. A SiteSync shows no health of an
// engine that calls its objects healthy and leaves a workload out.
func reportsHealthy(sites []v1alpha1.SiteObservation, name string) bool {
	for _, s := range sites {
		if s.Name == name {
			return s.State == v1alpha1.SiteLive && s.Engine != nil && engines.IsHealthy(s.Engine.Health)
		}
	}
	return false
}
