package managedcluster

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// A glancer looks at a ManagedCluster of which something changed, and leaves it alone if nothing is to be done or written now: a cluster
// that flaps is seen each time, and costs neither a request nor a turn of those who wait for one. Each is reconciled for good once in an
// interval all the same, for what nobody tells.
type glancer struct {
	reconcile.Reconciler

	connector *connector
	interval  time.Duration
}

// Reconcile a ManagedCluster, unless a glance is enough. It returns the errors of the reconciler behind it.
func (g *glancer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait, ok := g.glance(ctx, req.NamespacedName); ok {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return g.Reconciler.Reconcile(ctx, req)
}

// glance at a ManagedCluster that was found settled. It returns when to look again, and false if that is not enough.
func (g *glancer) glance(ctx context.Context, key types.NamespacedName) (time.Duration, bool) {
	c := g.connector
	mc := &v1alpha1.ManagedCluster{}
	if c.kube.Get(ctx, key, mc) != nil || !quiet(mc) {
		return 0, false
	}
	n := c.memory.of(key)
	if n.looked.IsZero() || c.now().Sub(n.looked) >= g.interval {
		return 0, false
	}
	look := c.pool.Look(key)
	defer look.Done()
	h, err := look.Home()
	if err != nil {
		return 0, false
	}
	before := mc.Status.DeepCopy()
	e := &external{connector: c, look: look, home: h, note: n, glance: true}
	o, err := e.Observe(ctx, mc)
	if err != nil || !o.ResourceUpToDate || !same(*before, mc.Status) {
		return 0, false
	}
	return c.interval(mc, g.interval), true
}

// quiet is true for a ManagedCluster that was reconciled as it is, and of which nothing is left to do.
func quiet(mc *v1alpha1.ManagedCluster) bool {
	c := mc.GetCondition(xpv2.TypeSynced)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == mc.GetGeneration() && !meta.WasDeleted(mc) && !meta.IsPaused(mc)
}

// secretVersion is the resource version of the kubeconfig's Secret, as far as watches told. Empty has it read.
func (e *external) secretVersion(ctx context.Context, mc *v1alpha1.ManagedCluster) string {
	if !e.glance {
		return ""
	}
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if e.told.Get(ctx, client.ObjectKey{Namespace: namespace(mc), Name: readiness.SecretName(mc.Spec.ForProvider.Cluster.Name)}, s) != nil {
		return ""
	}
	return s.GetResourceVersion()
}
