// Package sitesync observes whether Sites run what was ordered.
//
// Facts are gathered first, from the API server, the engines and Git; a pure function decides; and what it decided is shown in the
// status, at once where somebody waits for it.
package sitesync

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
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
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
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
)

const (
	// timeout of a reconcile: clusters are asked at the same time, and commits fetched once.
	timeout = time.Minute

	// jitter of the interval, as a part of it.
	jitter = 0.1
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of Sites.
	Limits clusters.Limits
}

// Setup adds the controller of SiteSyncs to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	gvk := v1alpha1.GroupVersion.WithKind("SiteSync")
	name := managed.ControllerName(gvk.GroupKind().String())
	log := o.Logger.WithValues("controller", name)
	kube := mgr.GetClient()
	bell := make(chan types.NamespacedName)
	pool := clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), func(owner types.NamespacedName) { bell <- owner })
	c := &connector{kube: kube, pool: pool, prover: newProver(kube), memory: newMemory(), log: log, now: time.Now}
	c.tracks, c.prober, c.limits = newTracks(), clusters.NewProber(s.Limits, time.Now), s.Limits
	r := managed.NewReconciler(mgr, resource.ManagedKind(gvk), options(mgr, o, name, c)...)
	if err := index(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	w := waker{kube: kube, log: log}
	changed := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(name)).
		WithOptions(o.ForControllerRuntime()).
		For(&v1alpha1.SiteSync{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), forgot()))).
		Watches(&v1alpha1.GitDelivery{}, handler.EnqueueRequestsFromMapFunc(w.delivery), builder.WithPredicates(carriedOut())).
		Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.site)).
		Watches(&configv1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), changed).
		Watches(&configv1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(w.config), changed).
		// Only who a Secret is, not what is in it, is kept in memory.
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(w.secret), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(ring(bell)).
		Complete(ratelimiter.NewReconciler(name, &forgetful{Reconciler: r, kube: kube, connector: c}, o.GlobalRateLimiter))
}

// ring passes on to the queue what clusters tell.
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
		managed.WithTypedExternalConnector[*v1alpha1.SiteSync](c),
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

// none is no finalizer: a SiteSync has nothing to clean up.
func none() resource.Finalizer {
	nothing := func(context.Context, resource.Object) error { return nil }
	return resource.FinalizerFns{AddFinalizerFn: nothing, RemoveFinalizerFn: nothing}
}

// interval is until something is due, be it a deadline or a status that waits, and at most the one for what nobody tells.
func (c *connector) interval(mg resource.Managed, most time.Duration) time.Duration {
	every := most + time.Duration((rand.Float64()*2-1)*jitter*float64(most)) //nolint:gosec // It spreads load, and keeps no secret.
	if next := c.memory.of(client.ObjectKeyFromObject(mg)).next; !next.IsZero() {
		return min(every, max(next.Sub(c.now()), time.Millisecond))
	}
	return every
}

// A forgetful reconciler drops all that belongs to a SiteSync that is no more.
type forgetful struct {
	reconcile.Reconciler

	kube      client.Reader
	connector *connector
}

// Reconcile one SiteSync. It returns the errors of the managed reconciler, and one if the SiteSync cannot be read.
func (f *forgetful) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	err := f.kube.Get(ctx, req.NamespacedName, &v1alpha1.SiteSync{})
	if kerrors.IsNotFound(err) {
		f.connector.pool.Forget(req.NamespacedName)
		f.connector.memory.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get SiteSync")
	}
	return f.Reconciler.Reconcile(ctx, req)
}
