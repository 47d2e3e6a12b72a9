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

// A quickReconciler observes a ManagedCluster after an event, and ends there if nothing has to be changed or written now. A cluster that
// flaps is observed after each event, and costs neither a request nor a place in the queue of the rate limiter. Each ManagedCluster is
// reconciled in full once per interval, for changes that no watch reports.
type quickReconciler struct {
	reconcile.Reconciler

	connector *connector
	interval  time.Duration
}

// Reconcile a ManagedCluster, unless a quick observation is enough. It returns the errors of the full reconciler.
func (g *quickReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait, ok := g.quickObserve(ctx, req.NamespacedName); ok {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return g.Reconciler.Reconcile(ctx, req)
}

// quickObserve observes a settled ManagedCluster. It returns when to look again, and false if a full reconcile is necessary.
func (g *quickReconciler) quickObserve(ctx context.Context, key types.NamespacedName) (time.Duration, bool) {
	c := g.connector
	mc := &v1alpha1.ManagedCluster{}
	if c.kube.Get(ctx, key, mc) != nil || !isSettled(mc) {
		return 0, false
	}
	n := c.memory.noteFor(key)
	if n.reconciledAt.IsZero() || c.now().Sub(n.reconciledAt) >= g.interval {
		return 0, false
	}
	look := c.pool.Look(key)
	defer look.Done()
	h, err := look.Home()
	if err != nil {
		return 0, false
	}
	before := mc.Status.DeepCopy()
	e := &external{connector: c, look: look, management: h, note: n, quick: true}
	o, err := e.Observe(ctx, mc)
	if err != nil || !o.ResourceUpToDate || !isSameStatus(*before, mc.Status) {
		return 0, false
	}
	return c.requeueInterval(mc, g.interval), true
}

// isSettled reports whether the present generation of a ManagedCluster was reconciled with success.
func isSettled(mc *v1alpha1.ManagedCluster) bool {
	c := mc.GetCondition(xpv2.TypeSynced)
	return c.Status == corev1.ConditionTrue && c.ObservedGeneration == mc.GetGeneration() && !meta.WasDeleted(mc) && !meta.IsPaused(mc)
}

// secretVersion returns the resource version of the kubeconfig's Secret in the cache. If it is empty, the Secret is read from the API
// server.
func (e *external) secretVersion(ctx context.Context, mc *v1alpha1.ManagedCluster) string {
	if !e.quick {
		return ""
	}
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if e.metadata.Get(ctx, client.ObjectKey{Namespace: clusterNamespace(mc), Name: readiness.SecretName(mc.Spec.ForProvider.Cluster.Name)}, s) != nil {
		return ""
	}
	return s.GetResourceVersion()
}
