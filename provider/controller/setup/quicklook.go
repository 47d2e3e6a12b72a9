package setup

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A QuickLook is the fast path of a controller: it observes an object after an event, and reconciles it only if something has to be changed or
// written now. An object whose clusters flap is observed after each event, and costs neither a write nor a place in the queue of the rate limiter.
// Each object is reconciled in full once per interval, for changes that no watch reports.
type QuickLook[T resource.Managed] struct {
	reconcile.Reconciler

	// Kube reads the objects, and New makes an empty one.
	Kube client.Reader
	New  func() T

	// Interval of full reconciles.
	Interval time.Duration

	// Now is the clock.
	Now func() time.Time

	// ReconciledAt returns when an object was last reconciled in full. Zero means never.
	ReconciledAt func(o T) time.Time

	// IsUnchanged observes an object, and writes nothing. It reports whether nothing has to be changed or written now.
	IsUnchanged func(ctx context.Context, o T) bool

	// MayWait observes an object of which the reconciler has not seen the last change, and reports whether nothing has to be changed or written yet.
	// Nil means that each change is written at once.
	MayWait func(ctx context.Context, o T) bool

	// TryAgain retries the unreachable clusters of an object now. Nil for objects without clusters.
	TryAgain func(key types.NamespacedName)

	// NextLook returns when an object is due again, which is after the interval at the latest.
	NextLook func(o resource.Managed, interval time.Duration) time.Duration
}

// Reconcile an object, unless a quick look is enough. It returns the errors of the full reconciler.
func (q *QuickLook[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait, ok := q.quickObserve(ctx, req.NamespacedName); ok {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return q.Reconciler.Reconcile(ctx, req)
}

// quickObserve observes an object that is settled, or whose change may wait. It returns when to look again, and false if a full reconcile is necessary.
func (q *QuickLook[T]) quickObserve(ctx context.Context, key types.NamespacedName) (time.Duration, bool) {
	o := q.New()
	if q.Kube.Get(ctx, key, o) != nil {
		return 0, false
	}
	isRequested := isAskedToReconcile(o)
	if isRequested && q.TryAgain != nil {
		q.TryAgain(key)
	}
	if !isReconciled(o) {
		if q.MayWait == nil || !isNewOrChanged(o) || !q.MayWait(ctx, o) {
			return 0, false
		}
		return q.NextLook(o, q.Interval), true
	}
	reconciledAt := q.ReconciledAt(o)
	if isRequested || reconciledAt.IsZero() || q.Now().Sub(reconciledAt) >= q.Interval || !q.IsUnchanged(ctx, o) {
		return 0, false
	}
	return q.NextLook(o, q.Interval), true
}

// A requestTracker is an object whose status has the last handled request to reconcile. Crossplane's reconciler writes it.
type requestTracker interface{ GetLastHandledReconcileAt() string }

// isAskedToReconcile reports whether a user requested a reconcile, with the annotation crossplane.io/reconcile-requested-at, that is not handled yet.
func isAskedToReconcile(o resource.Managed) bool {
	token, isAsked := meta.GetReconcileRequest(o)
	tracker, hasAnswers := o.(requestTracker)
	return isAsked && hasAnswers && tracker.GetLastHandledReconcileAt() != token
}

// isReconciled reports whether the current generation of an object was reconciled successfully.
func isReconciled(o resource.Managed) bool {
	c := o.GetCondition(xpv2.TypeSynced)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == o.GetGeneration() && !meta.WasDeleted(o) && !meta.IsPaused(o)
}

// isNewOrChanged reports whether an object is new, or changed after its last successful reconcile.
func isNewOrChanged(o resource.Managed) bool {
	return o.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionFalse && !meta.WasDeleted(o) && !meta.IsPaused(o)
}
