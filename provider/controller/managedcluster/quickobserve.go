package managedcluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// newQuickReconciler returns a reconciler that observes ManagedClusters after an event, and passes a ManagedCluster to the full reconciler if it has
// something to change or to write.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.ManagedCluster]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.ManagedCluster { return &v1alpha1.ManagedCluster{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(mc *v1alpha1.ManagedCluster) time.Time { return c.memory.NoteOf(mc).reconciledAt },
		IsUnchanged:  c.isUnchanged, TryAgain: c.pool.TryAgain, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes a ManagedCluster, and reports whether nothing has to be changed or written now.
func (c *connector) isUnchanged(ctx context.Context, mc *v1alpha1.ManagedCluster) bool {
	key := client.ObjectKeyFromObject(mc)
	look := c.pool.Look(key)
	defer look.Done()
	h, err := look.Home()
	if err != nil {
		return false
	}
	previous := mc.Status.DeepCopy()
	o, err := (&external{connector: c, look: look, management: h, note: c.memory.NoteOf(mc), quick: true}).Observe(ctx, mc)
	return err == nil && o.ResourceUpToDate && isSameStatus(*previous, mc.Status)
}

// secretVersion returns the resource version of the kubeconfig's Secret in the cache. If it is empty, the Secret is read from the API
// server.
func (e *external) secretVersion(ctx context.Context, mc *v1alpha1.ManagedCluster) string {
	if !e.quick {
		return ""
	}
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if e.metadata.Get(ctx, client.ObjectKey{Namespace: desired.Namespace(mc), Name: readiness.SecretName(mc.Spec.ForProvider.Cluster.Name)}, s) != nil {
		return ""
	}
	return s.GetResourceVersion()
}
