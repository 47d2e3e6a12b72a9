package sitehealth

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
)

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and from the API server for kinds that the cache must not hold.
	kube   client.Client
	pool   *clusters.Pool
	memory *memory
	now    func() time.Time
}

// Connect opens no connection.
func (c *connector) Connect(_ context.Context, s *v1alpha1.SiteHealth) (managed.TypedExternalClient[*v1alpha1.SiteHealth], error) {
	key := client.ObjectKeyFromObject(s)
	return &external{connector: c, look: c.pool.Look(key), note: c.memory.NoteOf(s)}, nil
}

// An external is the Sites of one SiteHealth, for one reconcile.
type external struct {
	*connector

	look *clusters.Look
	note *note
	// quick is true for a look that writes nothing.
	quick bool
}

// Observe reads the pods of the Sites. It writes nothing. A SiteHealth exists until it is deleted, and leaves nothing behind.
func (e *external) Observe(ctx context.Context, s *v1alpha1.SiteHealth) (managed.ExternalObservation, error) {
	if meta.WasDeleted(s) {
		return managed.ExternalObservation{}, nil
	}
	s.Status.SetObservedGeneration(s.GetGeneration())
	f, err := e.gatherFacts(ctx, s)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	if !e.quick {
		e.note.reconciledAt = f.now
	}
	e.updateStatus(s, decideStatus(f))
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
}

// Create is never called: a SiteHealth exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.SiteHealth) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update is never called: a SiteHealth is always up to date.
func (e *external) Update(context.Context, *v1alpha1.SiteHealth) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, nil
}

// Delete is never called: nothing is left to delete.
func (e *external) Delete(context.Context, *v1alpha1.SiteHealth) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, nil
}

// Disconnect drops the caches of objects that were not read this time.
func (e *external) Disconnect(context.Context) error {
	e.look.Done()
	return nil
}
