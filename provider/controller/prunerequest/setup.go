// Package prunerequest plans the removal of directories and packages that no object owns any more, and removes them once a user approved that
// very plan.
//
// A plan follows from facts that are read past caches before it waits in the queue of deliveries, and is made again in its turn there, of these facts and the
// trees of the snapshot alone: where it differs, nothing is removed.
package prunerequest

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
)

const (
	name = "prunerequest"

	// keyPrefix distinguishes requests from GitDeliveries in the queue of a repository.
	keyPrefix = name + "/"

	// maxWorkers is how many requests are planned at once. Most of the time they wait for repositories, which may not answer.
	maxWorkers = 8
)

// A counter counts decisions of plans.
type counter interface {
	// Pruned counts an item of a plan by its verdict and reason.
	Pruned(verdict, reason string)
}

// Options of the controller. All are required, but for Guard, of which the zero value refuses the most.
type Options struct {
	// Repositories that deliveries go to.
	Repositories *repository.Pool

	// Guard restricts the addresses of ProviderConfigs of namespaces.
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
	if err := listing.AddIndexes(context.Background(), mgr.GetFieldIndexer(), waitingIndex()); err != nil {
		return err
	}
	events := &setup.EventSource{}
	p.Repositories.WakeWith(keyPrefix, events.Wake)
	r := &Reconciler{
		kube: mgr.GetClient(), live: mgr.GetAPIReader(), namespace: p.Namespace, count: p.Counter, now: time.Now,
		opener:   remote.Opener{Kube: mgr.GetClient(), Pool: p.Repositories, Guard: p.Guard, Now: time.Now},
		recorder: setup.NewRecorder(mgr, name),
	}
	_, err := setup.AddController(mgr, o, setup.Controller{
		Name: name, Reconciler: errors.WithSilentRequeueOnConflict(r), Workers: maxWorkers, Events: events,
		Watch: func(b *builder.Builder) *builder.Builder {
			return b.For(&v1alpha1.PruneRequest{}).Watches(&v1alpha1.PruneApproval{}, handler.EnqueueRequestsFromMapFunc(requestOfApproval))
		},
	})
	return err
}

// requestOfApproval returns the request that an approval names, which need not exist.
func requestOfApproval(_ context.Context, o client.Object) []reconcile.Request {
	a, ok := o.(*v1alpha1.PruneApproval)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: a.GetNamespace(), Name: a.Spec.RequestRef.Name}}}
}
