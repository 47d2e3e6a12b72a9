package sitesync

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// A glancer looks at a SiteSync of which something changed, and leaves it alone if nothing is to be written or asked for now: a cluster
// or an engine that flaps is seen each time, and costs neither a write nor a turn of those who wait for one. Each is reconciled for
// good once in an interval all the same.
type glancer struct {
	reconcile.Reconciler

	connector *connector
	interval  time.Duration
}

// Reconcile a SiteSync, unless a glance is enough. It returns the errors of the reconciler behind it.
func (g *glancer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait, ok := g.glance(ctx, req.NamespacedName); ok {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return g.Reconciler.Reconcile(ctx, req)
}

// glance at a SiteSync that was found settled. It returns when to look again, and false if that is not enough.
func (g *glancer) glance(ctx context.Context, key types.NamespacedName) (time.Duration, bool) {
	c := g.connector
	s := &v1alpha1.SiteSync{}
	if c.kube.Get(ctx, key, s) != nil || !quiet(s) {
		return 0, false
	}
	n := c.memory.of(key)
	if n.looked.IsZero() || c.now().Sub(n.looked) >= g.interval {
		return 0, false
	}
	look := c.pool.Look(key)
	defer look.Done()
	before, draft := s.Status.DeepCopy(), n.draft
	e := &external{connector: c, look: look, note: n, glance: true}
	o, err := e.Observe(ctx, s)
	if err != nil || !o.ResourceUpToDate || !equality.Semantic.DeepEqual(*before, s.Status) {
		n.draft = draft // Who writes it finds what is due.
		return 0, false
	}
	return c.interval(s, g.interval), true
}

// quiet is true for a SiteSync that was reconciled as it is.
func quiet(s *v1alpha1.SiteSync) bool {
	c := s.GetCondition(xpv2.TypeSynced)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == s.GetGeneration() && !meta.WasDeleted(s) && !meta.IsPaused(s)
}
