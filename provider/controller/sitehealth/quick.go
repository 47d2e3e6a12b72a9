package sitehealth

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// quickLook returns what observes SiteHealths after an event, and reconciles those with something to write.
func (c *connector) quickLook(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.SiteHealth]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.SiteHealth { return &v1alpha1.SiteHealth{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(key types.NamespacedName) time.Time { return c.memory.NoteFor(key).reconciledAt },
		IsUnchanged:  c.isUnchanged, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a SiteHealth, and reports whether nothing is to be written. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, s *v1alpha1.SiteHealth) bool {
	key := client.ObjectKeyFromObject(s)
	look := c.pool.Look(key)
	defer look.Done()
	before := s.Status.DeepCopy()
	_, err := (&external{connector: c, look: look, note: c.memory.NoteFor(key), quick: true}).Observe(ctx, s)
	return err == nil && equality.Semantic.DeepEqual(*before, s.Status)
}
