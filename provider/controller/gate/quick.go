package gate

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A quickLook observes a Gate of which something changed, and reconciles it only if something is to be written or made now: a cluster whose Jobs
// change all the time costs neither a write nor a turn of other objects. Each Gate is reconciled once in an interval all the same.
type quickLook struct {
	reconcile.Reconciler

	connector *connector
	interval  time.Duration
}

// Reconcile a Gate, unless a quick look is enough. It returns the errors of the reconciler behind it.
func (q *quickLook) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait, ok := q.quickObserve(ctx, req.NamespacedName); ok {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return q.Reconciler.Reconcile(ctx, req)
}

// quickObserve observes a Gate that was reconciled as it is. It returns when to look again, and false if that is not enough.
func (q *quickLook) quickObserve(ctx context.Context, key types.NamespacedName) (time.Duration, bool) {
	c, g := q.connector, &v1alpha1.Gate{}
	if c.kube.Get(ctx, key, g) != nil || !isSettled(g) || !c.memory.lookedSince(key, c.now().Add(-q.interval)) {
		return 0, false
	}
	look := c.pool.Look(key)
	defer look.Done()
	before, restore := g.Status.DeepCopy(), c.memory.deferred(key)
	o, err := (&external{connector: c, look: look, quick: true}).Observe(ctx, g)
	if err != nil || !o.ResourceUpToDate || !equality.Semantic.DeepEqual(*before, g.Status) {
		restore() // The reconciler finds what is due.
		return 0, false
	}
	return c.interval(g, q.interval), true
}

// isSettled is true for a Gate that was reconciled as it is.
func isSettled(g *v1alpha1.Gate) bool {
	c := g.GetCondition(xpv2.TypeSynced)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == g.GetGeneration() && !meta.WasDeleted(g) && !meta.IsPaused(g)
}
