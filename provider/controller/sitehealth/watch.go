package sitehealth

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/listing"
)

// healthIndex finds SiteHealths by their Sites. It finds by their claim the SiteHealths that depend on SiteSyncs.
func healthIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.SiteHealth{}, "intentplane.sitehealth.site", siteHealthKeys)
}

// siteHealthKeys returns the keys of a SiteHealth: its Sites, and its claim if it has routes or an unobservable Site. The report of an engine affects only these.
func siteHealthKeys(s *v1alpha1.SiteHealth) []string {
	out := make([]string, 0, len(s.Spec.ForProvider.Sites)+1)
	for _, t := range s.Spec.ForProvider.Sites {
		out = append(out, siteIndexKey(t.Name))
	}
	if s.Spec.ForProvider.Route || slices.ContainsFunc(s.Status.AtProvider.Sites, isUnobserved) {
		out = append(out, claimIndexKey(s.Spec.ForProvider.ClaimRef))
	}
	return out
}

func isUnobserved(s v1alpha1.SiteHealthState) bool { return s.State == v1alpha1.HealthNotObserved }

func siteIndexKey(name string) string { return "site/" + name }

func claimIndexKey(c rolloutv1alpha1.ClaimReference) string {
	return "claim/" + c.APIGroup + "/" + c.Name
}

// A waker finds the SiteHealths that a change of something else concerns. SiteHealths that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsFor(ctx, []string{siteIndexKey(o.GetName())})
}

// requestsForSync wakes the SiteHealths of the same claim that have routes, or cannot observe a Site, which counts by its engine's report.
func (w waker) requestsForSync(ctx context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*v1alpha1.SiteSync)
	if !ok {
		return nil
	}
	return w.requestsFor(ctx, []string{claimIndexKey(s.Spec.ForProvider.ClaimRef)}, client.InNamespace(s.GetNamespace()))
}

// requestsFor returns requests for the SiteHealths with any of some keys.
func (w waker) requestsFor(ctx context.Context, keys []string, o ...client.ListOption) []reconcile.Request {
	out, err := healthIndex().Requests(ctx, w.kube, &v1alpha1.SiteHealthList{}, keys, o...)
	if err != nil {
		w.log.Info("Cannot find the SiteHealths that an event concerns", "error", err)
	}
	return out
}

// requestsForSecret wakes the SiteHealths of Sites whose kubeconfig it may hold.
func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	sites, err := clusters.ListSitesOfSecret(ctx, w.kube, o)
	if err != nil {
		w.log.Info("Cannot find the Sites of a Secret", "error", err)
	}
	keys := make([]string, 0, len(sites))
	for i := range sites {
		keys = append(keys, siteIndexKey(sites[i].GetName()))
	}
	return w.requestsFor(ctx, keys)
}
