// Package sitesync is the controller of SiteSyncs: it observes whether the GitOps engines of Sites (Flux, Argo CD, Config Sync) run the trees of a position,
// and waits for clusters of Cluster API.
//
// Facts are gathered first, from the API server, the engines and Git; a pure function decides; and its decision is written into the status,
// at once where another object waits for it.
package sitesync

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
	gitrepo "github.com/intentplane/intentplane/provider/repository"
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of Sites.
	Limits clusters.Limits

	// Prober asks the API servers of clusters. Controllers that share one ask each API server once for all.
	Prober clusterapi.Asker

	// Guard restricts the addresses of ProviderConfigs of namespaces. The zero Guard refuses the most.
	Guard address.Guard

	// Repositories is the pool of repositories that commits are fetched from, shared with deliveries. Required.
	Repositories *gitrepo.Pool
}

// Setup adds the controller of SiteSyncs to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	gvk := v1alpha1.GroupVersion.WithKind("SiteSync")
	name := managed.ControllerName(gvk.GroupKind().String())
	log := o.Logger.WithValues("controller", name)
	kube := mgr.GetClient()
	bell := &setup.EventSource{}
	pool := clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), s.Limits.Accounts, bell.Wake)
	c := &connector{kube: kube, metadata: mgr.GetCache(), pool: pool, prover: newProver(kube, time.Now, s.Guard, s.Repositories), memory: newNoteMemory(), log: log, now: time.Now}
	c.readiness, c.prober, c.limits = newReadinessCache(), s.Prober, s.Limits
	r := managed.NewReconciler(mgr, resource.ManagedKind(gvk), append(setup.Options(mgr, o, name, c, c.requeueInterval), setup.WithoutFinalizer())...)
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), siteSyncIndex(), siteOwnerIndex()); err != nil {
		return err
	}
	w := waker{kube: kube, log: log}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	control, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Events: bell,
		Reconciler: &setup.Forgetful{Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.SiteSync{} }, Forget: c.forgetSiteSync},
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&v1alpha1.SiteSync{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), statusWasEmptied()))).
				Watches(&v1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(w.requestsForDelivery), builder.WithPredicates(positionApplied())).
				Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSite)).
				Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), changed).
				Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), changed).
				// Only the metadata of Secrets, not their data, is kept in memory.
				WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
		},
	})
	if err != nil {
		return err
	}
	// Sites are observed also where the kind ManagedCluster is not served.
	o.Gate.Register(func() {
		if err := control.Watch(source.Kind[client.Object](mgr.GetCache(), &clusterv1alpha1.ManagedCluster{}, handler.EnqueueRequestsFromMapFunc(w.requestsForOwner), policyChanged())); err != nil {
			log.Info("Cannot watch ManagedClusters", "error", err) // Their Sites are looked at an interval later.
		}
	}, siteOwnerKind())
	return nil
}

// requeueInterval is until something is due, be it a deadline or a status that waits, and at most the interval for changes that no event reports.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	return setup.Interval(limit, c.memory.NoteOf(mg).next, c.now())
}

// forgetSiteSync drops all that belongs to a SiteSync that was deleted.
func (c *connector) forgetSiteSync(key types.NamespacedName) {
	c.pool.Forget(key)
	c.memory.ForgetNote(key)
}
