package setup

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	rtcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Controller is the argument of AddController.
type Controller struct {
	// Name of the controller. Required.
	Name string

	// Reconciler of the objects. Required. The rate of their namespaces limits its calls.
	Reconciler reconcile.Reconciler

	// Before returns a reconciler that may answer for the objects before the limited one is called, at no cost of the rate. Nil calls it for each event.
	Before func(limited reconcile.Reconciler) reconcile.Reconciler

	// Watch adds the objects that the controller follows to its builder. Required.
	Watch func(b *builder.Builder) *builder.Builder

	// Events wake objects for changes that no watch reports. Nil is for a controller without such changes.
	Events *EventSource

	// Workers is the number of concurrent reconciles. Zero means the number of the options.
	Workers int

	// IsCheap is true for a controller most of whose reconciles reach the control plane alone: more of them may be per second.
	IsCheap bool
}

// AddController adds a controller to a manager of NotingConflicts. Each namespace has its share of the controller's workers, and of the rate of all
// controllers. It returns an error if the controller cannot be added, or has no reconciler, the options have no Rate, or the manager notes no conflicts.
func AddController(mgr ctrl.Manager, o controller.Options, c Controller) (rtcontroller.Controller, error) {
	r, ok := o.GlobalRateLimiter.(*Rate)
	if !ok || r == nil || c.Reconciler == nil {
		return nil, errors.Errorf("cannot add controller %s: it needs a reconciler, and a rate that all controllers share", c.Name)
	}
	if _, ok := mgr.(notingManager); !ok {
		return nil, errors.Errorf("cannot add controller %s: the client of its manager does not note conflicts", c.Name)
	}
	options := o.ForControllerRuntime()
	if c.Workers > 0 {
		options.MaxConcurrentReconciles = c.Workers
	}
	if c.Events == nil {
		c.Events = &EventSource{}
	}
	b := c.Watch(ctrl.NewControllerManagedBy(mgr).Named(c.Name).WithOptions(options)).WatchesRawSource(c.Events)
	added, err := b.Build(NewWorkerShares(c.limitedReconciler(r), options.MaxConcurrentReconciles, c.Events.Wake))
	return added, errors.Wrapf(err, "cannot add controller %s", c.Name)
}

// limitedReconciler returns the reconciler with the rate of its namespaces, and with retries of conflicts.
func (c Controller) limitedReconciler(r *Rate) reconcile.Reconciler {
	if c.IsCheap {
		r = r.cheap
	}
	limited := r.limitReconciler(c.Name, retryConflicts(c.Reconciler))
	if c.Before == nil {
		return limited
	}
	return c.Before(limited)
}
