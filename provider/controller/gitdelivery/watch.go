package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/provider/witness"
)

// A waker finds the GitDeliveries that depend on a changed object. After an error, each delivery is still reconciled at its next interval.
type waker struct {
	kube client.Reader
	log  logging.Logger
}

func (w waker) requestsForSite(ctx context.Context, o client.Object) []reconcile.Request {
	ds, err := usage.OfSite(ctx, w.kube, o.GetName())
	return w.newRequests(ds, err)
}

func (w waker) requestsForConfig(ctx context.Context, o client.Object) []reconcile.Request {
	ds, err := usage.OfConfig(ctx, w.kube, o)
	return w.newRequests(ds, err)
}

func (w waker) requestsForSecret(ctx context.Context, o client.Object) []reconcile.Request {
	configs, err := usage.ConfigsWithSecret(ctx, w.kube, client.ObjectKeyFromObject(o))
	out := w.newRequests(nil, err)
	for _, c := range configs {
		out = append(out, w.requestsForConfig(ctx, c)...)
	}
	return out
}

// requestsForWitness requeues the deliveries that a Gate, a SiteSync, a RolloutRequest or another delivery concerns.
func (w waker) requestsForWitness(ctx context.Context, o client.Object) []reconcile.Request {
	return w.newRequests(witness.Hearers(ctx, w.kube, o))
}

func (w waker) newRequests(ds []v1alpha1.GitDelivery, err error) []reconcile.Request {
	if err != nil {
		w.log.Info("Cannot wake GitDeliveries", "error", err)
	}
	out := []reconcile.Request{}
	for i := range ds {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&ds[i])})
	}
	return out
}

// statusOrFinalizerLost passes a status that lost its ledger, which would stay lost until the next interval, and an object that lost a finalizer, which
// may have been the last obstacle to its deletion.
func statusOrFinalizerLost() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		isStatusLost := previous.Status.AtProvider.Ledger != nil && current.Status.AtProvider.Ledger == nil
		return isStatusLost || len(current.GetFinalizers()) < len(previous.GetFinalizers())
	}}
}
