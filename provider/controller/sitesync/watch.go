package sitesync

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
)

// siteField finds SiteSyncs by their Sites.
const siteField = "intentplane.sitesync.site"

func indexSyncs(ctx context.Context, i client.FieldIndexer) error {
	return errors.Wrap(i.IndexField(ctx, &v1alpha1.SiteSync{}, siteField, siteIndexKeys), "cannot index SiteSyncs by Site")
}

func siteIndexKeys(o client.Object) []string {
	s, ok := o.(*v1alpha1.SiteSync)
	if !ok {
		return nil
	}
	out := make([]string, 0, len(s.Spec.ForProvider.Sites))
	for _, t := range s.Spec.ForProvider.Sites {
		out = append(out, t.Name)
	}
	return out
}

// A waker finds the SiteSyncs that a change of something else concerns. SiteSyncs that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) listSyncs(ctx context.Context, keep func(*v1alpha1.SiteSync) bool, o ...client.ListOption) []reconcile.Request {
	l := &v1alpha1.SiteSyncList{}
	if err := listing.Cached(ctx, w.kube, l, o...); err != nil {
		w.log.Info("Cannot list SiteSyncs", "error", err)
	}
	return requestsOf(l.Items, keep)
}

func requestsOf(syncs []v1alpha1.SiteSync, keep func(*v1alpha1.SiteSync) bool) []reconcile.Request {
	out := []reconcile.Request{}
	for i := range syncs {
		if keep(&syncs[i]) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&syncs[i])})
		}
	}
	return out
}

func anySync(*v1alpha1.SiteSync) bool { return true }

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.listSyncs(ctx, anySync, client.MatchingFields{siteField: o.GetName()})
}

// requestsForOwner wakes the SiteSyncs of a Site that the ManagedCluster published.
func (w waker) requestsForOwner(ctx context.Context, o client.Object) []reconcile.Request {
	l := &catalogv1alpha1.SiteList{}
	if err := listing.Cached(ctx, w.kube, l); err != nil {
		w.log.Info("Cannot list Sites", "error", err)
	}
	out := []reconcile.Request{}
	for i := range l.Items {
		if owner := l.Items[i].Spec.Owner; owner != nil && owner.UID == string(o.GetUID()) {
			out = append(out, w.requestsForSite(ctx, &l.Items[i])...)
		}
	}
	return out
}

// requestsForDelivery wakes the SiteSyncs of the same claim.
func (w waker) requestsForDelivery(ctx context.Context, o client.Object) []reconcile.Request {
	d, ok := o.(*v1alpha1.GitDelivery)
	if !ok {
		return nil
	}
	syncs, err := usage.SyncsOfClaim(ctx, w.kube, d.GetNamespace(), d.Spec.ForProvider.ClaimRef)
	if err != nil {
		w.log.Info("Cannot list SiteSyncs", "error", err)
	}
	return requestsOf(syncs, anySync)
}

func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	kind, options := policy.KindProviderConfig, []client.ListOption{client.InNamespace(o.GetNamespace())}
	if _, ok := o.(*configv1alpha1.ClusterProviderConfig); ok {
		kind, options = policy.KindClusterProviderConfig, nil
	}
	return w.listSyncs(ctx, func(s *v1alpha1.SiteSync) bool {
		for _, t := range s.Spec.ForProvider.Sites {
			if t.RepositoryRef.Kind == kind && t.RepositoryRef.Name == o.GetName() {
				return true
			}
		}
		return false
	}, options...)
}

// requestsForSecret wakes the SiteSyncs of Sites whose kubeconfig it may hold.
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

// positionApplied lets through a GitDelivery that brought its repository to another position than before, or with another commit, and a home whose ledger or
// mandate changed.
func positionApplied() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		a, b := previous.Status.AtProvider, current.Status.AtProvider
		isSameLedger := headOf(a) == headOf(b) && equality.Semantic.DeepEqual(a.Mandate, b.Mandate)
		return !isSameLedger || a.AppliedPosition() != b.AppliedPosition() || !equality.Semantic.DeepEqual(a.Remote, b.Remote)
	}}
}

// headOf returns the head of the ledger that a home shows, or the zero value.
func headOf(o v1alpha1.GitDeliveryObservation) ledger.Head {
	return ptr.Deref(o.Ledger, ledger.State{}).Head
}

// statusWasEmptied lets through a status that lost its memory.
func statusWasEmptied() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.SiteSync)
		current, ok2 := e.ObjectNew.(*v1alpha1.SiteSync)
		return ok && ok2 && previous.Status.AtProvider.ObservedPosition().Revision > 0 && current.Status.AtProvider.ObservedPosition().Revision == 0
	}}
}
