package bundlestate

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
)

// A connector makes externals.
type connector struct {
	// kube reads from the cache, and writes.
	kube client.Client
	// live reads past the cache.
	live client.Reader
	// clientset reads and writes records.
	clientset kubernetes.Interface
	recorder  event.Recorder
	memory    *memory
	now       func() time.Time
}

// Connect opens no connection.
func (c *connector) Connect(_ context.Context, bs *v1alpha1.BundleState) (managed.TypedExternalClient[*v1alpha1.BundleState], error) {
	return &external{connector: c, note: c.memory.NoteOf(bs)}, nil
}

// An external is the packages of one Bundle, for one reconcile.
type external struct {
	*connector

	note *note
	// quick is true for a look that writes nothing.
	quick bool

	// decision of Observe, for Update and Delete of the same reconcile.
	decision decision
}

// Observe reads the packages. It writes nothing. A BundleState exists until it is deleted, and after that until its packages are gone, and its record.
func (e *external) Observe(ctx context.Context, bs *v1alpha1.BundleState) (managed.ExternalObservation, error) {
	bs.Status.SetObservedGeneration(bs.GetGeneration())
	f, err := e.gatherFacts(ctx, bs)
	if err != nil {
		return managed.ExternalObservation{}, err
	}
	return e.observeFacts(ctx, bs, f)
}

// observeFacts decides on the facts, and compares the decision with the record.
func (e *external) observeFacts(ctx context.Context, bs *v1alpha1.BundleState, f *facts) (managed.ExternalObservation, error) {
	if !e.quick {
		e.note.reconciledAt = f.now
	}
	if e.decision = decideBundle(f); e.decision.isPruneDue {
		if err := e.makePrunePlan(ctx, f, bs.GetNamespace()); err != nil {
			return managed.ExternalObservation{}, err
		}
		e.decision = decideBundle(f)
	}
	e.note.forgetCreated(&e.decision)
	isRecorded, unread := e.matchesRecord(ctx, bs, &e.decision)
	e.updateStatus(bs, unread)
	if meta.WasDeleted(bs) {
		return managed.ExternalObservation{ResourceExists: e.decision.remains || e.isRecordLeft(ctx, bs)}, nil
	}
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: len(e.decision.actions) == 0 && isRecorded}, nil
}

// isRecordLeft reports whether there is a record that can be removed.
func (e *external) isRecordLeft(ctx context.Context, bs *v1alpha1.BundleState) bool {
	_, err := e.readBundleRecord(ctx, bs)
	return !errors.Is(err, state.ErrNoState) && !isUnwritable(err)
}

// isUnwritable reports whether a record cannot be written by any try until a user acts.
func isUnwritable(err error) bool {
	return isUnreadable(err) || errors.Is(err, errTaken) || kerrors.IsForbidden(err)
}

// Create is never called: a BundleState exists until it is deleted.
func (e *external) Create(context.Context, *v1alpha1.BundleState) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, nil
}

// Update changes the packages that are not as they should be, and then the record, which follows them. It returns an error for actions that
// have to be repeated.
func (e *external) Update(ctx context.Context, bs *v1alpha1.BundleState) (managed.ExternalUpdate, error) {
	err := e.applyActions(ctx, bs, &e.decision)
	e.updateStatus(bs, e.writeRecord(ctx, bs, &e.decision))
	return managed.ExternalUpdate{}, err
}

// Delete removes packages that no other bundle uses, each package after its dependents, and then the record. A record that cannot be removed
// stays: nothing depends on it.
func (e *external) Delete(ctx context.Context, bs *v1alpha1.BundleState) (managed.ExternalDelete, error) {
	err := e.applyActions(ctx, bs, &e.decision)
	recorded := e.writeRecord(ctx, bs, &e.decision)
	e.updateStatus(bs, recorded)
	if err != nil || e.decision.remains {
		return managed.ExternalDelete{}, err
	}
	recorded = e.removeRecord(ctx, bs)
	if isUnwritable(recorded) {
		e.recorder.Event(bs, event.Warning(ReasonRecordLeft, recorded))
		recorded = nil
	}
	return managed.ExternalDelete{}, recorded
}

// Disconnect closes no connection: the clients are shared.
func (e *external) Disconnect(context.Context) error { return nil }
