package setup

import (
	"context"
	"sync/atomic"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// SoonInterval is the delay of a reconcile that is due at once. After a conflict the cache has the write of the other writer by then. A reconciler that skips
// reconciles of unchanged objects skips none after an interval up to this one.
const SoonInterval = time.Second

// conflictKey is the key of a context's note whether a write was a conflict.
type conflictKey struct{}

// noteConflicts returns a context in which conflicts of a client of NotingConflicts are noted, and the note.
func noteConflicts(ctx context.Context) (context.Context, *atomic.Bool) {
	note := &atomic.Bool{}
	return context.WithValue(ctx, conflictKey{}, note), note
}

// noteConflict notes an error that is a conflict, and returns the error.
func noteConflict(ctx context.Context, err error) error {
	if note, ok := ctx.Value(conflictKey{}).(*atomic.Bool); ok && kerrors.IsConflict(err) {
		note.Store(true)
	}
	return err
}

// retryConflicts returns a reconciler whose objects are reconciled again soon after a conflict. The rate limiter of the queue counts a conflict as one more
// failure, and each reconcile of a deletion too: the conflict about the finalizer at the end of a deletion would wait for a minute.
func retryConflicts(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		ctx, conflict := noteConflicts(ctx)
		res, err := r.Reconcile(ctx, req)
		//nolint:staticcheck // Requeue is the managed reconciler's result of a conflict.
		if err == nil && res.Requeue && conflict.Load() {
			return reconcile.Result{RequeueAfter: SoonInterval}, nil
		}
		return res, err
	})
}

// NotingConflicts returns a manager whose client notes conflicts in the context of a reconcile. AddController requires it. The managed reconciler requeues
// after a conflict as after a failure, and its result does not distinguish the two.
func NotingConflicts(mgr ctrl.Manager) ctrl.Manager {
	return notingManager{Manager: mgr, client: notingClient{mgr.GetClient()}}
}

type notingManager struct {
	ctrl.Manager
	client client.Client
}

// GetClient returns the client that notes conflicts.
func (m notingManager) GetClient() client.Client { return m.client }

type notingClient struct{ client.Client }

// Update an object.
func (c notingClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return noteConflict(ctx, c.Client.Update(ctx, o, opts...))
}

// Patch an object.
func (c notingClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return noteConflict(ctx, c.Client.Patch(ctx, o, p, opts...))
}

// Status returns a writer of statuses that notes conflicts.
func (c notingClient) Status() client.SubResourceWriter { return notingWriter{c.Client.Status()} }

type notingWriter struct{ client.SubResourceWriter }

// Update a status.
func (w notingWriter) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	return noteConflict(ctx, w.SubResourceWriter.Update(ctx, o, opts...))
}

// Patch a status.
func (w notingWriter) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return noteConflict(ctx, w.SubResourceWriter.Patch(ctx, o, p, opts...))
}
