// Package gate is the controller of Gates: it judges one step of one revision by the measurements of its checks, which are queries of Prometheus, web
// checks, Jobs and the availability of pods.
//
// Facts are gathered first: who proves that the subject is live, and whom to ask. A meter takes the measurements, a pure function decides,
// and its decision is written into the status: when the checks begin, and when one of them ends.
package gate

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
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
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/fetch"
	"github.com/intentplane/intentplane/provider/gates/meter"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/usage"
)

// openInterval is the interval between observations of a Gate without a verdict, if no event triggers a reconcile: the obstacle of a Job may
// disappear without an event.
const openInterval = time.Minute

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of Sites.
	Limits clusters.Limits

	// Servers are the clients of servers that measure. Required.
	Servers *fetch.Clients

	// Observer counts each question. Nil counts none.
	Observer meter.Observer
}

// Kinds are the kinds that the controller requires.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		v1alpha1.GroupVersion.WithKind("Gate"),
		deliveryv1alpha1.GroupVersion.WithKind("SiteSync"),
		deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"),
		catalogv1alpha1.GroupVersion.WithKind("Site"),
		configv1alpha1.GroupVersion.WithKind("ProviderConfig"),
		configv1alpha1.GroupVersion.WithKind("ClusterProviderConfig"),
	}
}

// Setup adds the controller of Gates to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, g Options) error {
	gvk := v1alpha1.GroupVersion.WithKind("Gate")
	name := managed.ControllerName(gvk.GroupKind().String())
	kube, bell := mgr.GetClient(), &setup.EventSource{}
	m := meter.New(time.Now, bell.Wake, g.Observer)
	if err := mgr.Add(m); err != nil {
		return errors.Wrap(err, "cannot add the measurement scheduler")
	}
	pool := clusters.NewPool(clusters.Dialer(mgr.GetConfig(), g.Limits), g.Limits.Accounts, bell.Wake)
	clientFor := func(namespace string) prometheus.Doer { return g.Servers.ForNamespace(namespace) }
	c := &connector{kube: kube, live: mgr.GetAPIReader(), meter: m, clientFor: clientFor, pool: pool, memory: newNoteMemory(), now: time.Now}
	r := managed.NewReconciler(mgr, resource.ManagedKind(gvk), append(setup.Options(mgr, o, name, c, c.requeueInterval), setup.WithoutFinalizer())...)
	if err := errors.Join(listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), wakerIndexes()...), usage.IndexGates(context.Background(), mgr.GetFieldIndexer())); err != nil {
		return err
	}
	w := waker{kube: kube, log: o.Logger.WithValues("controller", name)}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: strings.ToLower(name), Events: bell,
		Reconciler: &setup.Forgetful{Reconciler: r, Kube: kube, New: func() client.Object { return &v1alpha1.Gate{} }, Forget: c.forgetGate},
		Before: func(limited reconcile.Reconciler) reconcile.Reconciler {
			return c.newQuickReconciler(limited, o.PollInterval)
		},
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&v1alpha1.Gate{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), statusWasEmptied()))).
				Watches(&deliveryv1alpha1.SiteSync{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSync)).
				Watches(&deliveryv1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(w.requestsForDelivery), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
				Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSite), changed).
				Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), changed).
				Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.requestsForConfig), changed).
				// Only the metadata of Secrets, not their data, is kept in memory.
				WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.requestsForSecret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
		},
	})
	return err
}

// requeueInterval is the interval for changes that no event reports. A measurement wakes the Gate.
func (c *connector) requeueInterval(mg resource.Managed, limit time.Duration) time.Duration {
	if c.memory.lacksVerdict(client.ObjectKeyFromObject(mg)) {
		limit = min(limit, openInterval)
	}
	return setup.Interval(limit, c.memory.nextReconcileTime(mg), c.now())
}

// forgetGate drops all that belongs to a Gate that was deleted.
func (c *connector) forgetGate(key types.NamespacedName) {
	c.meter.Forget(key)
	c.pool.Forget(key)
	c.memory.forgetGate(key)
}
