// Package gate judges one step of one revision by measurements.
//
// Facts are gathered first: who proves that the subject is live, and whom to ask. A meter takes the measurements, a pure function decides,
// and what it decided is shown in the status: when the checks begin, and when one of them ends.
package gate

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/gates/fetch"
	"github.com/intentplane/intentplane/provider/gates/meter"
)

const (
	timeout = time.Minute

	// openInterval is how often a Gate without a verdict is looked at when nothing wakes it: credentials may have been replaced.
	openInterval = time.Minute

	// jitter of the interval, as a part of it.
	jitter = 0.1
)

// Options of the controller.
type Options struct {
	// Fetch has those of how servers are asked.
	Fetch fetch.Options
}

// Kinds are those that the controller cannot do without.
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
	kube, bell := mgr.GetClient(), make(chan types.NamespacedName)
	m := meter.New(time.Now, func(owner types.NamespacedName) { bell <- owner }, nil)
	if err := mgr.Add(m); err != nil {
		return errors.Wrap(err, "cannot add what measures")
	}
	c := &connector{kube: kube, meter: m, fetch: fetch.New(g.Fetch), memory: newMemory(), now: time.Now}
	r := managed.NewReconciler(mgr, resource.ManagedKind(gvk), options(mgr, o, name, c)...)
	if err := index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	w := waker{kube: kube, log: o.Logger.WithValues("controller", name)}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(name)).
		WithOptions(o.ForControllerRuntime()).
		For(&v1alpha1.Gate{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), forgot()))).
		Watches(&deliveryv1alpha1.SiteSync{}, handler.EnqueueRequestsFromMapFunc(w.sync)).
		Watches(&deliveryv1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(w.delivery), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.site), changed).
		Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), changed).
		Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), changed).
		WatchesRawSource(ring(bell)).
		Complete(ratelimiter.NewReconciler(name, &forgetful{Reconciler: r, kube: kube, connector: c}, o.GlobalRateLimiter))
}

// ring passes on to the queue whose checks have ended.
func ring(bell <-chan types.NamespacedName) source.Func {
	return func(ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			for {
				select {
				case owner := <-bell:
					q.Add(reconcile.Request{NamespacedName: owner})
				case <-ctx.Done():
					return
				}
			}
		}()
		return nil
	}
}

func options(mgr ctrl.Manager, o controller.Options, name string, c *connector) []managed.ReconcilerOption {
	opts := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector[*v1alpha1.Gate](c),
		managed.WithInitializers(),
		managed.WithFinalizer(none()),
		managed.WithTimeout(timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithPollIntervalHook(c.interval),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(event.NewAPIRecorder(mgr.GetEventRecorderFor(name))),
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		opts = append(opts, managed.WithManagementPolicies())
	}
	return opts
}

// none is no finalizer: a Gate has nothing to clean up.
func none() resource.Finalizer {
	nothing := func(context.Context, resource.Object) error { return nil }
	return resource.FinalizerFns{AddFinalizerFn: nothing, RemoveFinalizerFn: nothing}
}

// interval is the one for what nobody tells. What is measured wakes us.
func (c *connector) interval(mg resource.Managed, most time.Duration) time.Duration {
	if c.memory.open(client.ObjectKeyFromObject(mg)) {
		most = min(most, openInterval)
	}
	return most + time.Duration((rand.Float64()*2-1)*jitter*float64(most)) //nolint:gosec // It spreads load, and keeps no secret.
}

// A forgetful reconciler drops all that belongs to a Gate that is no more.
type forgetful struct {
	reconcile.Reconciler

	kube      client.Reader
	connector *connector
}

// Reconcile one Gate. It returns the errors of the managed reconciler, and one if the Gate cannot be read.
func (f *forgetful) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	g := &v1alpha1.Gate{}
	err := f.kube.Get(ctx, req.NamespacedName, g)
	if kerrors.IsNotFound(err) || err == nil && g.GetDeletionTimestamp() != nil {
		f.connector.meter.Forget(req.NamespacedName)
		f.connector.memory.forget(req.NamespacedName)
	}
	if kerrors.IsNotFound(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get Gate")
	}
	return f.Reconciler.Reconcile(ctx, req)
}
