package imagebuild

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/sources"
)

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and from the API server for kinds that the cache must not hold.
	kube client.Client
	// cache has the Images and Builds of ImageBuilds, and live reads from the API server.
	cache, live client.Reader
	sources     *sources.Pool
	guard       address.Guard
	memory      *memory
	hooks       *hookNotes
	counter     counter
	recorder    event.Recorder
	wake        func(types.NamespacedName)
	now         func() time.Time
	// hasKpack is true once the cluster serves the kinds of kpack.
	hasKpack atomic.Bool
	// builders is how the builders of kpack are seen. Nil until that is known.
	builders atomic.Pointer[builderView]
}

// Connect opens no connection.
func (c *connector) Connect(_ context.Context, b *v1alpha1.ImageBuild) (managed.TypedExternalClient[*v1alpha1.ImageBuild], error) {
	return &external{connector: c, note: c.memory.NoteOf(b)}, nil
}

// An external is the source and the Image of one ImageBuild, for one reconcile.
type external struct {
	*connector

	note *note
	// quick is true for a look that writes nothing.
	quick bool
	// decision of Observe, for Update of the same reconcile.
	decision decision
}

// Observe looks at the repository and at kpack, and decides the requests to kpack. An ImageBuild exists until it is deleted; its Image goes
// with it, since it is the owner.
func (e *external) Observe(ctx context.Context, b *v1alpha1.ImageBuild) (managed.ExternalObservation, error) {
	if meta.WasDeleted(b) {
		return managed.ExternalObservation{}, nil
	}
	b.Status.SetObservedGeneration(b.GetGeneration())
	f, err := e.gatherFacts(ctx, b)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.quick {
		e.note.reconciledAt = f.now
	}
	e.decision = decideBuild(f)
	e.updateStatus(b, f)
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: !e.decision.hasKpackChange()}, nil
}

// Create is never called: an ImageBuild exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.ImageBuild) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update carries out the decision at kpack.
func (e *external) Update(ctx context.Context, b *v1alpha1.ImageBuild) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, e.applyDecision(ctx, client.ObjectKeyFromObject(b))
}

// Delete is never called: there is nothing to delete.
func (e *external) Delete(context.Context, *v1alpha1.ImageBuild) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect does nothing.
func (e *external) Disconnect(context.Context) error { return nil }
