// Package setup has the common parts of controllers that observe clusters: their event sources, their intervals without events, and the removal of their
// caches.
package setup

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// timeout of a reconcile: clusters are observed concurrently, and commits fetched once.
	timeout = time.Minute

	// jitter of an interval, as a part of it.
	jitter = 0.1
)

// Options of the managed reconciler of a kind.
func Options[T resource.Managed](mgr ctrl.Manager, o controller.Options, name string, c managed.TypedExternalConnector[T], interval managed.PollIntervalHook) []managed.ReconcilerOption {
	opts := []managed.ReconcilerOption{
		managed.WithTypedExternalConnector(c),
		managed.WithInitializers(),
		managed.WithTimeout(timeout),
		managed.WithPollInterval(o.PollInterval),
		managed.WithPollIntervalHook(interval),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(NewRecorder(mgr, name)),
	}
	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		opts = append(opts, managed.WithManagementPolicies())
	}
	return opts
}

// WithoutFinalizer is for kinds without external objects to clean up.
func WithoutFinalizer() managed.ReconcilerOption {
	nothing := func(context.Context, resource.Object) error { return nil }
	return managed.WithFinalizer(resource.FinalizerFns{AddFinalizerFn: nothing, RemoveFinalizerFn: nothing})
}

// Interval is the time until the next deadline or deferred write, and at most about the interval for changes that no event reports. A zero
// time is never due.
func Interval(limit time.Duration, due, now time.Time) time.Duration {
	interval := limit + time.Duration((rand.Float64()*2-1)*jitter*float64(limit)) //nolint:gosec // It spreads load, and keeps no secret.
	if due.IsZero() {
		return interval
	}
	return min(interval, max(due.Sub(now), time.Millisecond))
}

// Forgetful reconciles objects of one kind, and drops the caches of deleted objects.
type Forgetful struct {
	reconcile.Reconciler

	// Kube reads the objects, and New makes an empty one.
	Kube client.Reader
	New  func() client.Object

	// Forget drops the caches of a deleted object.
	Forget func(key types.NamespacedName)
}

// Reconcile one object. It returns the errors of the reconciler behind it, and one if the object cannot be read.
func (f *Forgetful) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	err := f.Kube.Get(ctx, req.NamespacedName, f.New())
	if kerrors.IsNotFound(err) {
		f.Forget(req.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, errors.Wrap(err, "cannot get the object")
	}
	return f.Reconciler.Reconcile(ctx, req)
}
