package sitehealth

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/listing"
)

// siteField finds SiteHealths by their Sites. claimField finds by their claim the SiteHealths that depend on SiteSyncs.
const (
	siteField  = "intentplane.sitehealth.site"
	claimField = "intentplane.sitehealth.claim"
)

func indexHealths(ctx context.Context, i client.FieldIndexer) error {
	if err := i.IndexField(ctx, &v1alpha1.SiteHealth{}, siteField, siteIndexKeys); err != nil {
		return errors.Wrap(err, "cannot index SiteHealths by Site")
	}
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.SiteHealth{}, claimField, claimIndexKeys), "cannot index SiteHealths by claim")
}

// claimIndexKeys returns the claim of a SiteHealth with routes or an unobservable Site: the report of an engine affects only these.
func claimIndexKeys(o client.Object) []string {
	s, ok := o.(*v1alpha1.SiteHealth)
	if !ok || !s.Spec.ForProvider.Route && !slices.ContainsFunc(s.Status.AtProvider.Sites, isUnobserved) {
		return nil
	}
	return []string{claimKey(s.Spec.ForProvider.ClaimRef)}
}

func isUnobserved(s v1alpha1.SiteHealthState) bool { return s.State == v1alpha1.HealthNotObserved }

func claimKey(c rolloutv1alpha1.ClaimReference) string { return c.APIGroup + "/" + c.Name }

func siteIndexKeys(o client.Object) []string {
	s, ok := o.(*v1alpha1.SiteHealth)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(s.Spec.ForProvider.Sites))
	for _, t := range s.Spec.ForProvider.Sites {
		out = append(out, t.Name)
	}
	return out
}

// A waker finds the SiteHealths that a change of something else concerns. SiteHealths that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.listHealths(ctx, client.MatchingFields{siteField: o.GetName()})
}

// requestsForSync wakes the SiteHealths of the same claim that have routes, or cannot observe a Site, which counts by its engine's report.
func (w waker) requestsForSync(ctx context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*v1alpha1.SiteSync)
	if !ok {
		return nil
	}
	return w.listHealths(ctx, client.InNamespace(s.GetNamespace()), client.MatchingFields{claimField: claimKey(s.Spec.ForProvider.ClaimRef)})
}

func (w waker) listHealths(ctx context.Context, o ...client.ListOption) []reconcile.Request {
	l := &v1alpha1.SiteHealthList{}
	if err := listing.Cached(ctx, w.kube, l, o...); err != nil {
		w.log.Info("Cannot list SiteHealths", "error", err)
	}
	out := make([]reconcile.Request, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
	}
	return out
}

// requestsForSecret wakes the SiteHealths of Sites whose kubeconfig it may hold.
func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	sites, err := clusters.ListSitesOfSecret(ctx, w.kube, o)
	if err != nil {
		w.log.Info("Cannot find the Sites of a Secret", "error", err)
	}
	out := []reconcile.Request{}
	for i := range sites {
		out = append(out, w.requestsForSite(ctx, &sites[i])...)
	}
	return out
}
