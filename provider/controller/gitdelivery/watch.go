package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/provider/usage"
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

// rollbackDelivered passes the status update that reports the trees of a rollback as delivered. By the mandate this may end the rollback without a further
// change of a SiteSync: the Sites ran the trees before, or have no engine.
func rollbackDelivered() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		return ok && ok2 && isRollbackDelivered(current) && !isRollbackDelivered(previous)
	}}
}

// isRollbackDelivered is true for a home with a mandate whose repository has the trees of the rollback in progress.
func isRollbackDelivered(d *v1alpha1.GitDelivery) bool {
	observed := d.Status.AtProvider
	if observed.Mandate == nil || observed.Ledger == nil {
		return false
	}
	s := *observed.Ledger
	return s.IsRejected() && s.Cursor.Attempt > 0 && !s.Restored && evidence.IsDelivered(d, s.Position())
}
