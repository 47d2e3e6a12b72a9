package gate

import (
	"context"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// newQuickReconciler returns a reconciler that observes Gates after an event, and passes a Gate to the full reconciler if it has something to write or
// to make.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.Gate]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.Gate { return &v1alpha1.Gate{} }, Interval: interval, Now: c.now,
		ReconciledAt: c.memory.reconciledAt, IsUnchanged: c.isUnchanged, MayWait: c.mayDeferWrite, TryAgain: c.pool.TryAgain, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a Gate, and reports whether nothing is to be written or made. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, g *v1alpha1.Gate) bool {
	key := client.ObjectKeyFromObject(g)
	look := c.pool.Look(key)
	defer look.Done()
	previous, restore := g.Status.DeepCopy(), c.memory.saveDeferral(g)
	o, err := (&external{connector: c, look: look, quick: true}).Observe(ctx, g)
	previous.ObservedGeneration = g.Status.ObservedGeneration // A new observedGeneration alone does not warrant a write.
	if err != nil || !o.ResourceUpToDate || !equality.Semantic.DeepEqual(*previous, g.Status) {
		restore()
		return false
	}
	return true
}

// mayDeferWrite observes a Gate that was never reconciled, and reports whether its step has not begun: such a Gate has no status, since nothing waits for
// one, and each write costs the composite.
func (c *connector) mayDeferWrite(ctx context.Context, g *v1alpha1.Gate) bool {
	return g.GetCondition(xpv2.TypeSynced).Reason == "" && g.Spec.ForProvider.Until == v1alpha1.GateUntilReleased && c.isUnchanged(ctx, g)
}
