package composite

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReasonRetained is the reason of the event of a deletion that removed nothing.
const ReasonRetained event.Reason = "Retained"

// A Connector connects to external resources, and retains them when their managed resource is deleted while its composite lives.
type Connector[T resource.Managed] struct {
	managed.TypedExternalConnector[T]

	// Kind of the managed resources.
	Kind schema.GroupKind

	// Live reads composites, claims, namespaces and CustomResourceDefinitions past the cache.
	Live client.Reader

	// Recorder of events.
	Recorder event.Recorder
}

// Connect to the external resources of a managed resource. It returns an error, and so nothing is removed, while the state of a deleted
// resource's composite is unknown.
func (c *Connector[T]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	if !meta.WasDeleted(mg) {
		return c.TypedExternalConnector.Connect(ctx, mg)
	}
	retains, err := Retains(ctx, c.Live, mg, c.Kind)
	if err != nil {
		return nil, err
	}
	if !retains {
		return c.TypedExternalConnector.Connect(ctx, mg)
	}
	c.Recorder.Event(mg, event.Normal(ReasonRetained, "The deletion removed nothing: the composite of this object lives, and Crossplane creates the object again"))
	return retained[T]{}, nil
}

// retained is the client of a deleted managed resource whose external resources stay.
type retained[T resource.Managed] struct{}

// Observe that nothing is left to remove.
func (retained[T]) Observe(context.Context, T) (managed.ExternalObservation, error) {
	return managed.ExternalObservation{}, nil
}

// Create is never called for a deleted managed resource.
func (retained[T]) Create(context.Context, T) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update is never called for a deleted managed resource.
func (retained[T]) Update(context.Context, T) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, nil
}

// Delete removes nothing.
func (retained[T]) Delete(context.Context, T) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect has nothing to end.
func (retained[T]) Disconnect(context.Context) error { return nil }
