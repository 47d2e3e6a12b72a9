package sitehealth

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
)

// siteField finds SiteHealths by their Sites.
const siteField = "intentplane.sitehealth.site"

func indexHealths(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.SiteHealth{}, siteField, siteIndexKeys), "cannot index SiteHealths by Site")
}

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

// A waker finds the SiteHealths that a change of something else concerns. What it cannot find is looked at anyway, an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	l := &v1alpha1.SiteHealthList{}
	if err := w.kube.List(ctx, l, client.MatchingFields{siteField: o.GetName()}); err != nil {
		w.log.Info("Cannot list SiteHealths", "error", err)
	}
	out := make([]reconcile.Request, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
	}
	return out
}

// requestsForSecret wakes those whose Site's kubeconfig it may hold.
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
