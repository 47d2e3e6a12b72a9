package gitdelivery

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/provider/mandate"
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

// positionDelivered passes the status update that reports the trees of a position as delivered. By the mandate the next event may follow without a further
// change of a SiteSync: the Sites ran the trees before, or have no engine.
func positionDelivered() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		previous, ok := e.ObjectOld.(*v1alpha1.GitDelivery)
		current, ok2 := e.ObjectNew.(*v1alpha1.GitDelivery)
		if !ok || !ok2 {
			return false
		}
		progress := progressOf(current)
		return progress != "" && progress != progressOf(previous)
	}}
}

// progressOf returns, as text, the delivered position of a home with a mandate, and whether its revision has a verdict. It is empty if the repository does not
// have the trees of the position, or if nothing follows by the mandate.
func progressOf(d *v1alpha1.GitDelivery) string {
	observed := d.Status.AtProvider
	if observed.Mandate == nil || observed.Ledger == nil {
		return ""
	}
	s, requested := *observed.Ledger, d
	switch {
	case s.IsRejected() && (s.Cursor.Attempt == 0 || s.Restored):
		return ""
	case s.IsVerified() && (!s.HasTracks() || s.Cursor.Stage >= ledger.StageAlone):
		return ""
	case !s.IsRejected() && !slices.ContainsFunc(observed.Mandate.May, step.Kind.GoesForward):
		return ""
	case !s.IsRejected():
		requested = mandate.EffectiveDelivery(d)
	}
	if !evidence.IsDelivered(requested, s.Position()) {
		return ""
	}
	return fmt.Sprint(s.Position(), s.Verdict != nil)
}
