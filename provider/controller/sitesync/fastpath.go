package sitesync

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// newQuickReconciler returns a reconciler that observes SiteSyncs after an event, and passes a SiteSync to the full reconciler if it has something to
// write or to request.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.SiteSync]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.SiteSync { return &v1alpha1.SiteSync{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(s *v1alpha1.SiteSync) time.Time { return c.memory.NoteOf(s).reconciledAt },
		IsUnchanged:  c.isUnchanged, MayWait: c.mayDeferWrite, TryAgain: c.pool.TryAgain, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a SiteSync, and reports whether nothing is to be written or asked for. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, s *v1alpha1.SiteSync) bool {
	key := client.ObjectKeyFromObject(s)
	look, n := c.pool.Look(key), c.memory.NoteOf(s)
	defer look.Done()
	previous, draft := s.Status.DeepCopy(), n.draft
	o, err := (&external{connector: c, look: look, note: n, quick: true}).Observe(ctx, s)
	if err != nil || !o.ResourceUpToDate || !equality.Semantic.DeepEqual(*previous, s.Status) {
		n.draft = draft
		return false
	}
	return true
}

// mayDeferWrite observes a SiteSync whose next position was not seen yet, and reports whether the write of its observation may wait. Engines are
// asked to sync meanwhile.
func (c *connector) mayDeferWrite(ctx context.Context, s *v1alpha1.SiteSync) bool {
	key := client.ObjectKeyFromObject(s)
	look, n := c.pool.Look(key), c.memory.NoteOf(s)
	defer look.Done()
	if n.reconciledAt.IsZero() || !areSitesInTracks(s.Spec.ForProvider) {
		return false
	}
	previous, draft := s.Status.DeepCopy(), n.draft
	e := &external{connector: c, look: look, note: n, quick: true}
	_, err := e.Observe(ctx, s)
	previous.ObservedGeneration = s.Status.ObservedGeneration
	if err != nil || !isNextPosition(s, e.decision) || !equality.Semantic.DeepEqual(*previous, s.Status) {
		n.draft = draft
		return false
	}
	_, err = e.Update(ctx, s)
	return err == nil
}
