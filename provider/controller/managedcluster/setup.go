// Package managedcluster makes Clusters of Cluster API, and tells what becomes of them.
//
// Facts are gathered first, from the watches that all clusters share; a pure function decides what is applied and what is said; and the
// Cluster is the only object that is ever deleted while it is there: Cluster API deletes the rest, in its order.
package managedcluster

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
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
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/controller/composite"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of clusters.
	Limits clusters.Limits

	// Prober asks the API servers of clusters. Whoever shares one has each asked once for all.
	Prober clusterapi.Asker

	// Namespace of the provider, in which names of clusters are reserved.
	Namespace string
}

// Kind that the controller is for.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("ManagedCluster") }

// Setup adds the controller of ManagedClusters to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	kube := mgr.GetClient()
	bell := &setup.Bell{}
	c := &connector{
		kube: kube, live: mgr.GetAPIReader(), told: mgr.GetCache(), namespace: s.Namespace, usage: resource.NewProviderConfigUsageTracker(kube, &configv1alpha1.ProviderConfigUsage{}), pool: clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), s.Limits.Bounds, bell.Ring),
		prober: s.Prober, limits: s.Limits, memory: newMemory(),
		log: o.Logger.WithValues("controller", name), now: time.Now,
	}
	retaining := &composite.Connector[*v1alpha1.ManagedCluster]{
		TypedExternalConnector: c, Kind: Kind().GroupKind(), Live: mgr.GetAPIReader(), Recorder: event.NewAPIRecorder(mgr.GetEventRecorderFor(name)),
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(Kind()), setup.Options(mgr, o, name, retaining, c.interval)...)
	w := waker{kube: kube}
	return ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(name)).
		WithOptions(o.ForControllerRuntime()).
		For(&v1alpha1.ManagedCluster{}, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.site)).
		Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// Only who a Secret is, not what is in it, is kept in memory.
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.secret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(bell).
		Complete(&glancer{Reconciler: ratelimiter.NewReconciler(name, &setup.Forgetful{
			Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.ManagedCluster{} }, Forget: c.forget,
		}, o.GlobalRateLimiter), connector: c, interval: o.PollInterval})
}

// interval is until something is due, and at most the one for what nobody tells.
func (c *connector) interval(mg resource.Managed, most time.Duration) time.Duration {
	return setup.Interval(most, c.memory.of(client.ObjectKeyFromObject(mg)).next, c.now())
}

// forget all that belongs to a ManagedCluster that is no more.
func (c *connector) forget(key types.NamespacedName) {
	c.pool.Forget(key)
	c.memory.forget(key)
}

// A waker finds the ManagedClusters that a change of something else concerns.
type waker struct {
	kube client.Reader
}

func (w waker) site(_ context.Context, o client.Object) []reconcile.Request {
	s, ok := o.(*catalogv1alpha1.Site)
	if !ok || s.Spec.Owner == nil || s.Spec.Owner.APIGroup != v1alpha1.Group {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: s.Spec.Owner.Namespace, Name: s.Spec.Owner.Name}}}
}

// config wakes those whose limits it holds, for the most part those that wait for it.
func (w waker) config(ctx context.Context, o client.Object) []reconcile.Request {
	l := &v1alpha1.ManagedClusterList{}
	if w.kube.List(ctx, l, client.InNamespace(o.GetNamespace())) != nil {
		return nil // It is looked at anyway, an interval later.
	}
	kind := policy.KindProviderConfig
	if o.GetNamespace() == "" {
		kind = policy.KindClusterProviderConfig
	}
	var out []reconcile.Request
	for i := range l.Items {
		if ref := l.Items[i].GetProviderConfigReference(); ref != nil && ref.Kind == kind && ref.Name == o.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}

// secret wakes those whose kubeconfig it may hold.
func (w waker) secret(ctx context.Context, o client.Object) []reconcile.Request {
	l := &v1alpha1.ManagedClusterList{}
	if w.kube.List(ctx, l, client.InNamespace(o.GetNamespace())) != nil {
		return nil // It is looked at anyway, an interval later.
	}
	var out []reconcile.Request
	for i := range l.Items {
		if readiness.SecretName(l.Items[i].Spec.ForProvider.Cluster.Name) == o.GetName() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return out
}
