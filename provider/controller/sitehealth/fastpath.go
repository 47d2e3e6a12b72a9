package sitehealth

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// newQuickReconciler returns a reconciler that observes SiteHealths after an event, and passes a SiteHealth to the full reconciler if it has something
// to write.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.SiteHealth]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.SiteHealth { return &v1alpha1.SiteHealth{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(s *v1alpha1.SiteHealth) time.Time { return c.memory.NoteOf(s).reconciledAt },
		IsUnchanged:  c.isUnchanged, MayWait: c.mayDeferWrite, TryAgain: c.pool.TryAgain, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a SiteHealth, and reports whether nothing is to be written. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, s *v1alpha1.SiteHealth) bool {
	key := client.ObjectKeyFromObject(s)
	look := c.pool.Look(key)
	defer look.Done()
	previous := s.Status.DeepCopy()
	_, err := (&external{connector: c, look: look, note: c.memory.NoteOf(s), quick: true}).Observe(ctx, s)
	previous.ObservedGeneration = s.Status.ObservedGeneration // A new observedGeneration alone does not warrant a write.
	return err == nil && equality.Semantic.DeepEqual(*previous, s.Status)
}

// mayDeferWrite observes a SiteHealth whose last change was not reconciled, and reports whether the write of its observation may wait: as a rule
// the next image has no pod yet, and each write costs the composite.
func (c *connector) mayDeferWrite(ctx context.Context, s *v1alpha1.SiteHealth) bool {
	return !c.memory.NoteOf(s).reconciledAt.IsZero() && c.isUnchanged(ctx, s)
}
