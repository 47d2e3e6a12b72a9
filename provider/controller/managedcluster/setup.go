// Package managedcluster makes Clusters of Cluster API, and tells what becomes of them.
//
// Facts are gathered first, from the watches that all clusters share; a pure function decides what is applied and what is said; and the
// Cluster is the only object that is ever deleted while it is there: Cluster API deletes the rest, in its order.
package managedcluster

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
	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

const (
	timeout = time.Minute

	// jitter of the interval, as a part of it.
	jitter = 0.1
)

// Options of the controller.
type Options struct {
	// Limits of the kubeconfigs of clusters.
	Limits clusters.Limits
}

// Kind that the controller is for.
func Kind() schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind("ManagedCluster") }

// Setup adds the controller of ManagedClusters to a manager. It returns an error if it cannot be added.
func Setup(mgr ctrl.Manager, o controller.Options, s Options) error {
	name := managed.ControllerName(Kind().GroupKind().String())
	kube := mgr.GetClient()
	bell := make(chan types.NamespacedName)
	c := &connector{
		kube: kube, pool: clusters.NewPool(clusters.Dialer(mgr.GetConfig(), s.Limits), func(owner types.NamespacedName) { bell <- owner }),
		prober: clusters.NewProber(s.Limits, time.Now), limits: s.Limits, memory: newMemory(),
		log: o.Logger.WithValues("controller", name), now: time.Now,
	}
	r := managed.NewReconciler(mgr, resource.ManagedKind(Kind()), options(mgr, o, name, c)...)
	w := waker{kube: kube}
	return ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(name)).
		WithOptions(o.ForControllerRuntime()).
		For(&v1alpha1.ManagedCluster{}, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&catalogv1alpha1.Site{}, handler.EnqueueRequestsFromMapFunc(w.site)).
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
		managed.WithTypedExternalConnector[*v1alpha1.ManagedCluster](c),
		managed.WithInitializers(),
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

// interval is until something is due, and at most the one for what nobody tells.
func (c *connector) interval(mg resource.Managed, most time.Duration) time.Duration {
	every := most + time.Duration((rand.Float64()*2-1)*jitter*float64(most)) //nolint:gosec // It spreads load, and keeps no secret.
	if next := c.memory.of(client.ObjectKeyFromObject(mg)).next; !next.IsZero() {
		return min(every, max(next.Sub(c.now()), time.Millisecond))
	}
	return every
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

// A forgetful reconciler drops all that belongs to a ManagedCluster that is no more.
type forgetful struct {
	reconcile.Reconciler

	kube      client.Reader
	connector *connector
}

// Reconcile one ManagedCluster. It returns the errors of the managed reconciler, and one if the object cannot be read.
func (f *forgetful) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	err := f.kube.Get(ctx, req.NamespacedName, &v1alpha1.ManagedCluster{})
	if kerrors.IsNotFound(err) {
		f.connector.pool.Forget(req.NamespacedName)
		f.connector.memory.forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get ManagedCluster")
	}
	return f.Reconciler.Reconcile(ctx, req)
}
