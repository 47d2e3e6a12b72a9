package imagebuild

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// newQuickReconciler returns a reconciler that observes ImageBuilds after an event, and passes an ImageBuild to the full reconciler if it has
// something to write.
func (c *connector) newQuickReconciler(full reconcile.Reconciler, interval time.Duration) reconcile.Reconciler {
	return &setup.QuickLook[*v1alpha1.ImageBuild]{
		Reconciler: full, Kube: c.kube, New: func() *v1alpha1.ImageBuild { return &v1alpha1.ImageBuild{} }, Interval: interval, Now: c.now,
		ReconciledAt: func(b *v1alpha1.ImageBuild) time.Time { return c.memory.NoteOf(b).reconciledAt },
		IsUnchanged:  c.isUnchanged, NextLook: c.requeueInterval,
	}
}

// isUnchanged observes an ImageBuild, and reports whether nothing is to be written. If something is, the reconciler finds it due.
func (c *connector) isUnchanged(ctx context.Context, b *v1alpha1.ImageBuild) bool {
	previous := b.Status.DeepCopy()
	o, err := (&external{connector: c, note: c.memory.NoteOf(b), quick: true}).Observe(ctx, b)
	return err == nil && o.ResourceUpToDate && equality.Semantic.DeepEqual(*previous, b.Status)
}
