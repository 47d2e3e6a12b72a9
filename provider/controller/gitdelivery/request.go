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

// A lookRequest is what a user asks for with the annotation crossplane.io/reconcile-requested-at: a look at the repository that begins after that was seen.
type lookRequest struct {
	token  string
	seenAt time.Time
}

// openRequest returns what a delivery is asked for and has not answered, or "".
func openRequest(d *v1alpha1.GitDelivery) string {
	if token, ok := meta.GetReconcileRequest(d); ok && token != d.Status.LastHandledReconcileAt {
		return token
	}
	return ""
}

// noteRequest notes when a request was seen first, and returns that time. It is zero for a delivery that is asked for nothing.
func (c *fastPath) noteRequest(d *v1alpha1.GitDelivery) time.Time {
	at, isNew := c.rememberRequest(client.ObjectKeyFromObject(d), openRequest(d))
	if isNew {
		// An object that failed waits for its turn, but not if a user asks.
		c.onWake(client.ObjectKeyFromObject(d))
	}
	return at
}

func (c *fastPath) rememberRequest(key types.NamespacedName, token string) (at time.Time, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if token == "" {
		delete(c.requests, key)
		return time.Time{}, false
	}
	if known, ok := c.requests[key]; ok && known.token == token {
		return known.seenAt, false
	}
	c.requests[key] = lookRequest{token: token, seenAt: c.now()}
	return c.requests[key].seenAt, true
}

// noteRequests returns a predicate that notes the requests of deliveries, and lets everything through.
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

// forgetRequest forgets what a delivery that is gone was asked for, and has others forget the delivery. It lets the event through.
func (c *fastPath) forgetRequest(e event.DeleteEvent) bool {
	key := client.ObjectKeyFromObject(e.Object)
	c.rememberRequest(key, "")
	c.onDelete(key)
	return true
}

// lookAtRepository looks at the repository, as a user asked for it where one did: what was known before does not count then.
func (e *external) lookAtRepository(ctx context.Context, d *v1alpha1.GitDelivery, since time.Time) (*git.Snapshot, error) {
	key := client.ObjectKeyFromObject(d)
	e.asked = e.fastPath.noteRequest(d)
	if e.asked.IsZero() {
		return e.repo.Look(ctx, key, since)
	}
	if since.Before(e.asked) {
		since = e.asked
	}
	s, err := e.repo.LookAgain(ctx, key, since)
	if e.repo.HasLookedSince(e.asked) {
		answerRequest(d)
	}
	return s, err
}

// answerRequest says that a request was answered. Crossplane's reconciler would not: it does not know what was looked at.
func answerRequest(d *v1alpha1.GitDelivery) {
	if token := openRequest(d); token != "" {
		d.Status.LastHandledReconcileAt = token
	}
}
