package gitdelivery

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/git"
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

// noteRequest records the first time at which the controller read a request, and returns it. It is zero for a delivery without a request.
func (c *fastPath) noteRequest(d *v1alpha1.GitDelivery) time.Time {
	requestedAt, isNew := c.rememberRequest(client.ObjectKeyFromObject(d), openRequest(d))
	if isNew {
		// A failed object waits for its backoff, but not after a user's request.
		c.onWake(client.ObjectKeyFromObject(d))
	}
	return requestedAt
}

func (c *fastPath) rememberRequest(key types.NamespacedName, token string) (seenAt time.Time, isNew bool) {
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

// noteRequests returns a predicate that records the requests of deliveries, and passes each event.
func (c *fastPath) noteRequests() predicate.Predicate {
	note := func(o client.Object) bool {
		if d, ok := o.(*v1alpha1.GitDelivery); ok {
			c.noteRequest(d)
		}
		return true
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return note(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return note(e.ObjectNew) },
		DeleteFunc: c.forgetRequest,
	}
}

// forgetRequest deletes the request and the wake of a deleted delivery, and calls onDelete. It passes the event.
func (c *fastPath) forgetRequest(e event.DeleteEvent) bool {
	key := client.ObjectKeyFromObject(e.Object)
	c.rememberRequest(key, "")
	c.wakeAt(key, time.Time{})
	c.onDelete(key)
	return true
}

// lookAtRepository observes the repository. After a user's request it ignores earlier observations.
func (e *external) lookAtRepository(ctx context.Context, d *v1alpha1.GitDelivery, notBefore time.Time) (*git.Snapshot, error) {
	key := client.ObjectKeyFromObject(d)
	e.asked = e.fastPath.noteRequest(d)
	if e.asked.IsZero() {
		return e.repo.Look(ctx, key, notBefore)
	}
	if notBefore.Before(e.asked) {
		notBefore = e.asked
	}
	s, err := e.repo.LookAgain(ctx, key, notBefore)
	if e.repo.HasLookedSince(e.asked) {
		answerRequest(d)
	}
	return s, err
}

// answerRequest marks a request as answered in the status. Crossplane's reconciler cannot: it does not know the time of the observation.
func answerRequest(d *v1alpha1.GitDelivery) {
	if token := openRequest(d); token != "" {
		d.Status.LastHandledReconcileAt = token
	}
}
