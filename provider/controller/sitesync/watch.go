package sitesync

import (
	"context"

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

// siteSyncIndex finds SiteSyncs by their Sites, and by the configurations of the Sites' repositories.
func siteSyncIndex() listing.Index {
	return listing.NewIndex(&v1alpha1.SiteSync{}, "intentplane.sitesync.site", func(s *v1alpha1.SiteSync) []string {
		out := make([]string, 0, 2*len(s.Spec.ForProvider.Sites))
		for _, t := range s.Spec.ForProvider.Sites {
			out = append(out, siteIndexKey(t.Name), configIndexKey(t.RepositoryRef.Kind, t.RepositoryRef.Name))
		}
		return out
	})
}

func siteIndexKey(name string) string { return "site/" + name }

func configIndexKey(kind, name string) string { return "config/" + kind + "/" + name }

// siteOwnerIndex finds Sites by the UIDs of the objects that published them.
func siteOwnerIndex() listing.Index {
	return listing.NewIndex(&catalogv1alpha1.Site{}, "intentplane.sitesync.owner", func(s *catalogv1alpha1.Site) []string {
		if s.Spec.Owner == nil {
			return nil
		}
		return []string{s.Spec.Owner.UID}
	})
}

// A waker finds the SiteSyncs that a change of something else concerns. SiteSyncs that it does not find are observed an interval later.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

// requestsFor returns requests for the SiteSyncs with any of some keys.
func (w waker) requestsFor(ctx context.Context, keys []string, o ...client.ListOption) []reconcile.Request {
	out, err := siteSyncIndex().Requests(ctx, w.kube, &v1alpha1.SiteSyncList{}, keys, o...)
	if err != nil {
		w.log.Info("Cannot find the SiteSyncs that an event concerns", "error", err)
	}
	return out
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	return w.requestsFor(ctx, []string{siteIndexKey(o.GetName())})
}

// requestsForSites wakes the SiteSyncs of some Sites.
func (w waker) requestsForSites(ctx context.Context, sites []catalogv1alpha1.Site) []reconcile.Request {
	keys := make([]string, 0, len(sites))
	for i := range sites {
		keys = append(keys, siteIndexKey(sites[i].GetName()))
	}
	return w.requestsFor(ctx, keys)
}

// requestsForOwner wakes the SiteSyncs of a Site that the ManagedCluster published.
func (w waker) requestsForOwner(ctx context.Context, o client.Object) []reconcile.Request {
	l := &catalogv1alpha1.SiteList{}
	if err := siteOwnerIndex().List(ctx, w.kube, l, string(o.GetUID())); err != nil {
		w.log.Info("Cannot list Sites", "error", err)
	}
	return w.requestsForSites(ctx, l.Items)
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
	out := make([]reconcile.Request, 0, len(syncs))
	for i := range syncs {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&syncs[i])})
	}
	return out
}

// requestsForConfig wakes the SiteSyncs of Sites whose repository the configuration names. A ClusterProviderConfig has no namespace.
func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	kind := policy.KindProviderConfig
	if _, ok := o.(*configv1alpha1.ClusterProviderConfig); ok {
		kind = policy.KindClusterProviderConfig
	}
	return w.requestsFor(ctx, []string{configIndexKey(kind, o.GetName())}, client.InNamespace(o.GetNamespace()))
}

// requestsForSecret wakes the SiteSyncs of Sites whose kubeconfig it may hold.
func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	sites, err := clusters.ListSitesOfSecret(ctx, w.kube, o)
	if err != nil {
		w.log.Info("Cannot find the Sites of a Secret", "error", err)
	}
	return w.requestsForSites(ctx, sites)
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
		isSameLedger := observedHead(a) == observedHead(b) && equality.Semantic.DeepEqual(a.Mandate, b.Mandate)
		return !isSameLedger || a.AppliedPosition() != b.AppliedPosition() || !equality.Semantic.DeepEqual(a.Remote, b.Remote)
	}}
}

// observedHead returns the head of the ledger that a home shows, or the zero value.
func observedHead(o v1alpha1.GitDeliveryObservation) ledger.Head {
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
