package fastpath

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// A lookRequest is a user's request for a refresh by the annotation crossplane.io/reconcile-requested-at: an observation of the repository that
// begins after the controller read the annotation.
type lookRequest struct {
	token  string
	seenAt time.Time
}

// openRequest returns the token of an unanswered request to a delivery, or "".
func openRequest(d *v1alpha1.GitDelivery) string {
	if token, ok := meta.GetReconcileRequest(d); ok && token != d.Status.LastHandledReconcileAt {
		return token
	}
	return ""
}

// NoteRequest records the first time at which the controller read a request, and returns it. It is zero for a delivery without a request.
func (c *Reconciler) NoteRequest(d *v1alpha1.GitDelivery) time.Time {
	requestedAt, isNew := c.rememberRequest(client.ObjectKeyFromObject(d), openRequest(d))
	if isNew {
		// A failed object waits for its backoff, but not after a user's request.
		c.OnWake(client.ObjectKeyFromObject(d))
	}
	return requestedAt
}

func (c *Reconciler) rememberRequest(key types.NamespacedName, token string) (seenAt time.Time, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" {
		delete(c.requests, key)
		return time.Time{}, false
	}
	if lastRequest, ok := c.requests[key]; ok && lastRequest.token == token {
		return lastRequest.seenAt, false
	}
	c.requests[key] = lookRequest{token: token, seenAt: c.now()}
	return c.requests[key].seenAt, true
}

// NoteRequests returns a predicate that records the requests of deliveries, and passes each event.
func (c *Reconciler) NoteRequests() predicate.Predicate {
	note := func(o client.Object) bool {
		if d, ok := o.(*v1alpha1.GitDelivery); ok {
			c.NoteRequest(d)
		}
		return true
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return note(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return note(e.ObjectNew) },
		DeleteFunc: c.forgetRequest,
	}
}

// forgetRequest deletes the request and the wake of a deleted delivery, and calls OnDelete. It passes the event.
func (c *Reconciler) forgetRequest(e event.DeleteEvent) bool {
	key := client.ObjectKeyFromObject(e.Object)
	c.rememberRequest(key, "")
	c.WakeAt(key, time.Time{})
	c.OnDelete(key)
	return true
}

// AnswerRequest marks a request as answered in the status. Crossplane's reconciler cannot: it does not know the time of the observation.
func AnswerRequest(d *v1alpha1.GitDelivery) {
	if token := openRequest(d); token != "" {
		d.Status.LastHandledReconcileAt = token
	}
}
