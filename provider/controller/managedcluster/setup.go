// Package managedcluster is the controller of ManagedClusters: it makes Clusters of Cluster API, and reports their state.
//
// The facts are gathered first, from the watches that all clusters share. A pure function decides the changes and the status. The Cluster is
// the only object that is deleted while it exists: Cluster API deletes the rest, in its order.
package managedcluster

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of clusters.
	Limits clusters.Limits

	// Prober probes the API servers of clusters. Controllers that share a Prober probe each API server once.
	Prober clusterapi.Asker

	// Namespace of the provider, in which names of clusters are reserved.
	Namespace string
}

// Kind returns the kind that the controller reconciles.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("ManagedCluster") }

// Setup adds the controller of ManagedClusters to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	kube := mgr.GetClient()
	bell := &setup.EventSource{}
	c := &connector{
		kube: kube, live: mgr.GetAPIReader(), metadata: mgr.GetCache(), namespace: s.Namespace, usage: resource.NewProviderConfigUsageTracker(kube, &configv1alpha1.ProviderConfigUsage{}), pool: clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), s.Limits.Accounts, bell.Wake),
		prober: s.Prober, limits: s.Limits, memory: newNoteMemory(),
		log: o.Logger.WithValues("controller", name), now: time.Now,
	}
	retaining := &composite.Connector[*v1alpha1.ManagedCluster]{
		TypedExternalConnector: c, Kind: Kind().GroupKind(), Live: mgr.GetAPIReader(), Recorder: setup.NewRecorder(mgr, name),
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(Kind()), setup.Options(mgr, o, name, retaining, c.requeueInterval)...)
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), clusterIndex()); err != nil {
		return err
	}
	w := requestMapper{kube: kube}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Events: bell, Watch: w.watchObjects,
		Reconciler: &setup.Forgetful{Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.ManagedCluster{} }, Forget: c.forgetCluster},
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
	})
	return err
}

// watchObjects follows ManagedClusters, and the objects that they depend on.
func (w requestMapper) watchObjects(b *builder.Builder) *builder.Builder {
	return b.
		For(&v1alpha1.ManagedCluster{}, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSite)).
		Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// The cache holds the metadata of Secrets only, not their data.
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
}

// requeueInterval returns the time until the next reconcile is due, and at most the poll interval.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	return setup.Interval(limit, c.memory.NoteOf(mg).next, c.now())
}

// forgetCluster drops all that is kept about a ManagedCluster that does not exist any more.
func (c *connector) forgetCluster(key types.NamespacedName) {
	c.pool.Forget(key)
	c.memory.ForgetNote(key)
}
