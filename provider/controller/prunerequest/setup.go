// Package prunerequest plans what can be removed from a repository because no object owns it any more, and removes it once a user approved that very plan.
//
// A plan follows from facts that are read past caches, and is made again in its turn of the queue of deliveries: where it differs, nothing is removed.
package prunerequest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/repository"
)

const (
	name = "prunerequest"

	// keyPrefix distinguishes requests from GitDeliveries in the queue of a repository.
	keyPrefix = name + "/"

	// maxWorkers is how many requests are planned at once, each of another namespace. Each reads all that may own a directory.
	maxWorkers = 2
)

// A counter counts what plans decide.
type counter interface {
	// Pruned counts an item of a plan by its verdict and reason.
	Pruned(verdict, reason string)
}

// Options of the controller. All are required, but for Guard, of which the zero value refuses the most.
type Options struct {
	// Repositories that deliveries go to.
	Repositories *repository.Pool

	// Guard of what ProviderConfigs of namespaces lead to.
	Guard address.Guard

	// Namespace of Crossplane, whose requests may be about other namespaces.
	Namespace string

	// Counter of the items of plans.
	Counter counter
}

// Kinds returns the kinds that have to be served before the controller starts.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{v1alpha1.GroupVersion.WithKind("PruneRequest"), v1alpha1.GroupVersion.WithKind("PruneApproval")}
}

// Setup adds the controller of PruneRequests to a manager. It returns an error if that is not possible.
func Setup(mgr ctrl.Manager, o controller.Options, p Options) error {
	events := &setup.EventSource{}
	p.Repositories.WakeWith(keyPrefix, events.Wake)
	options := o.ForControllerRuntime()
	options.MaxConcurrentReconciles = maxWorkers
	r := &Reconciler{
		kube: mgr.GetClient(), live: mgr.GetAPIReader(), namespace: p.Namespace, count: p.Counter, now: time.Now,
		opener:   gitdelivery.Opener{Kube: mgr.GetClient(), Pool: p.Repositories, Guard: p.Guard, Now: time.Now},
		recorder: xpevent.NewAPIRecorder(mgr.GetEventRecorderFor(name)),
	}
	return errors.Wrapf(ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(options).
		For(&v1alpha1.PruneRequest{}).
		Watches(&v1alpha1.PruneApproval{}, handler.EnqueueRequestsFromMapFunc(requestOfApproval)).
		WatchesRawSource(events).
		Complete(setup.NewWorkerShares(errors.WithSilentRequeueOnConflict(r), maxWorkers, events.Wake)), "cannot add controller %s", name)
}

// requestOfApproval returns the request that an approval names, which need not exist.
func requestOfApproval(_ context.Context, o client.Object) []reconcile.Request {
	a, ok := o.(*v1alpha1.PruneApproval)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: a.GetNamespace(), Name: a.Spec.RequestRef.Name}}}
}
