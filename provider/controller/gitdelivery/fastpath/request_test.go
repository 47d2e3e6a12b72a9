package fastpath

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestNoteRequest requeues an object once for each request, and deletes answered requests.
func TestNoteRequest(t *testing.T) {
	now, woken := time.Now(), []types.NamespacedName{}
	c := New(time.Hour, func() time.Time { return now }, func() float64 { return 0 })
	c.OnWake = func(key types.NamespacedName) { woken = append(woken, key) }
	deleted := []types.NamespacedName{}
	c.OnDelete = func(key types.NamespacedName) { deleted = append(deleted, key) }
	p := c.NoteRequests()
	d := &v1alpha1.GitDelivery{}
	d.Name = "web"
	p.Update(event.UpdateEvent{ObjectOld: d, ObjectNew: d})
	if len(woken) != 0 || len(c.requests) != 0 {
		t.Errorf("noteRequests(): a delivery without a request is requeued: %v", woken)
	}
	meta.SetReconcileRequest(d, "first")
	first := now
	p.Create(event.CreateEvent{Object: d})
	now = now.Add(time.Second)
	p.Update(event.UpdateEvent{ObjectOld: d, ObjectNew: d})
	if requestedAt := c.NoteRequest(d); !requestedAt.Equal(first) || len(woken) != 1 {
		t.Errorf("noteRequest(...): %s, want the time when it was seen first, %s; woken %d times, want 1", requestedAt, first, len(woken))
	}
	meta.SetReconcileRequest(d, "second")
	if requestedAt := c.NoteRequest(d); !requestedAt.Equal(now) || len(woken) != 2 {
		t.Errorf("noteRequest(...): %s, want that of another request, %s; woken %d times, want 2", requestedAt, now, len(woken))
	}
	d.Status.LastHandledReconcileAt = "second"
	if requestedAt := c.NoteRequest(d); !requestedAt.IsZero() || len(c.requests) != 0 {
		t.Errorf("noteRequest(...): %s of an answered request", requestedAt)
	}
	d.Status.LastHandledReconcileAt = ""
	c.NoteRequest(d)
	p.Delete(event.DeleteEvent{Object: d})
	if len(c.requests) != 0 {
		t.Error("noteRequests(): the request of a deleted delivery is still recorded")
	}
	if diff := cmp.Diff([]types.NamespacedName{{Name: "web"}}, deleted); diff != "" {
		t.Errorf("noteRequests(): OnDelete is called for each deleted delivery: -want, +got:\n%s", diff)
	}
}
