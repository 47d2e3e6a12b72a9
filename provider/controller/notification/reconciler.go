// Package notification is the controller that posts the outcomes of deployments to the receivers of notifications, such as Slack, in their configuration.
//
// A reconcile posts the outcomes that the status of a deployment shows after the mark of each receiver, and moves the mark. A request without
// a name is about the marks of a namespace: it notes the present receivers, and drops the marks of deleted deployments and receivers.
package notification

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// ledgerWait is the time that a notification waits while no delivery of its deployment has the ledger.
const ledgerWait = 30 * time.Second

// A Poster posts an outcome to a receiver.
type Poster interface {
	// Post posts an outcome. Its errors hold no secret.
	Post(ctx context.Context, r *notification.Receiver, n *notification.Notification) error
}

// A Counter counts notifications.
type Counter interface {
	// Notified counts a notification by how it ended.
	Notified(result telemetry.NotificationResult)

	// NotificationsPending adds delta, which may be negative, to the number of notifications that are pending.
	NotificationsPending(delta int)
}

// A Reconciler posts the outcomes of the deployments of one API group.
type Reconciler struct {
	kube client.Client
	// live reads uncached kinds: Secrets.
	live  client.Reader
	gvk   schema.GroupVersionKind
	books *books
	// hosts are the allowed hosts of notifications of ProviderConfigs.
	hosts   []string
	poster  Poster
	counter Counter
	now     func() time.Time
	log     logging.Logger
	notes   *notes
	// areBooksWoken is false until the marks of all namespaces are enqueued: when the provider starts, and after a change of the receivers of
	// ClusterProviderConfigs.
	areBooksWoken atomic.Bool
	// changed has the namespaces with a changed ProviderConfig whose deployments are not enqueued yet.
	changed sync.Map
	// wake enqueues a deployment or the marks of a namespace.
	wake func(types.NamespacedName)
}

// A note keeps facts about a deployment from one reconcile to the next.
type note struct {
	// config is the configuration that the deployment named, as long as uid and generation are the same. Empty before it was read.
	config     notification.Config
	uid        string
	generation int64

	// pending is the number of notifications that receivers have not taken.
	pending int

	backoff *notification.Backoff
}

func newObjectNote() *note { return &note{backoff: notification.NewBackoff()} }

// notes are about the names of deployments, since the notifications and the marks of a deleted deployment are known by its name alone. A note has the UID of its
// deployment, which the reconciler compares. They are safe for concurrent use, and one reconcile at a time has a note.
type notes struct {
	mu     sync.Mutex
	byName map[types.NamespacedName]*note
}

func newNoteMemory() *notes { return &notes{byName: map[types.NamespacedName]*note{}} }

// findOrAddNote returns the note at a name, and creates a missing note.
func (n *notes) findOrAddNote(key types.NamespacedName) *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byName[key] == nil {
		n.byName[key] = newObjectNote()
	}
	return n.byName[key]
}

// forgetDeployment drops the note at a name.
func (n *notes) forgetDeployment(key types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byName, key)
}

// read records the configuration of a deployment.
func (n *note) read(d *observedDeployment) {
	n.uid, n.generation, n.config = d.Identity.UID, d.Generation, d.namedConfig()
}

// Reconcile posts the outcomes that the receivers of a deployment have not taken. It returns an error if something cannot be read, or a mark
// cannot be written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.Name == "" {
		return r.reconcileBook(ctx, req.Namespace)
	}
	recorded := r.notes.findOrAddNote(req.NamespacedName)
	wanted, err := r.mayHaveReceivers(ctx, req.NamespacedName, recorded)
	if err != nil || !wanted {
		return reconcile.Result{}, err
	}
	d, err := r.getDeployment(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if d == nil {
		r.countPending(recorded, 0)
		r.notes.forgetDeployment(req.NamespacedName)
		return reconcile.Result{}, r.dropDeployment(ctx, req.Namespace, recorded.uid)
	}
	return r.reconcileDeployment(ctx, d, recorded)
}

// reconcileDeployment posts to each receiver the outcomes after its mark.
func (r *Reconciler) reconcileDeployment(ctx context.Context, d *observedDeployment, recorded *note) (reconcile.Result, error) {
	if recorded.uid != "" && recorded.uid != d.Identity.UID { // The deployment was created again under its name.
		if err := r.dropDeployment(ctx, d.Identity.Namespace, recorded.uid); err != nil {
			return reconcile.Result{}, err
		}
	}
	outcomes, settles := notification.Outcomes(&d.Status, &ledger.State{}, r.now())
	turns, exists, err := r.newReceiverTurns(ctx, d)
	if err != nil {
		return reconcile.Result{}, err
	}
	marks, err := r.books.openNamespaceBook(ctx, d.Identity.Namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	recorded.read(d)
	if !exists || len(turns) > 0 && len(outcomes) == 0 && !marks.hasConfigChanged(d) {
		r.countPending(recorded, 0)
		return reconcile.Result{RequeueAfter: settles}, nil
	}
	if err := r.addPendingOutcomes(ctx, marks, d, turns); err != nil {
		return reconcile.Result{}, err
	}
	r.countPending(recorded, countNotifications(turns))
	retry := r.postToAllReceivers(ctx, recorded.backoff, turns)
	r.moveReceiverMarks(marks, d, turns)
	r.countPending(recorded, countNotifications(turns))
	return reconcile.Result{RequeueAfter: shorterWait(settles, retry)}, marks.saveChanges(ctx)
}

// addPendingOutcomes adds to each turn the notifications that its receiver has not accepted. It returns an error if an object cannot be read.
func (r *Reconciler) addPendingOutcomes(ctx context.Context, marks *book, d *observedDeployment, turns []*turn) error {
	state, err := setup.NewestLedger(ctx, r.kube, r.gvk.Group, types.NamespacedName{Namespace: d.Identity.Namespace, Name: d.Identity.Name})
	if err != nil {
		return err
	}
	if state.Epoch == 0 && len(turns) > 0 { // A notification has the epoch in its id.
		for _, t := range turns {
			t.retry = ledgerWait
		}
		return nil
	}
	outcomes, _ := notification.Outcomes(&d.Status, state, r.now())
	r.enterConfig(marks, d, turns, outcomes)
	for _, t := range turns {
		start, wait, err := r.receiverStartTime(ctx, t)
		if err != nil {
			return err
		}
		if wait > 0 {
			t.retry = wait
			continue
		}
		for _, o := range r.unacceptedOutcomes(marks, d, t, outcomes, start) {
			t.addNotification(notification.Notification{Outcome: o, Deployment: d.Identity})
		}
	}
	return nil
}

// unacceptedOutcomes returns the outcomes that the receiver of a turn has not accepted. A receiver without a mark gets a mark if the deployment had an earlier outcome.
func (r *Reconciler) unacceptedOutcomes(marks *book, d *observedDeployment, t *turn, outcomes []notification.Outcome, start time.Time) (out []notification.Outcome) {
	marks.editContent(func(content *notification.Book) bool {
		mark, hasFirst := content.MarkOf(d.Identity.ID(), t.id, start), false
		if floor := time.Unix(content.Floor, 0); start.Before(floor) {
			start = floor
		} else if mark == nil {
			var first notification.Mark
			if first, hasFirst = notification.FirstMark(outcomes, start, r.now()); hasFirst {
				content.Set(d.Identity.ID(), t.id, first)
				mark = &first
			}
		}
		out = notification.Untold(outcomes, d.Status.Transitions, mark, start)
		return hasFirst
	})
	return out
}

// receiverStartTime returns the time since which the receiver of a turn exists, or how long to wait while it is unknown. It returns an error if the time cannot be read
// or recorded.
func (r *Reconciler) receiverStartTime(ctx context.Context, t *turn) (start time.Time, wait time.Duration, err error) {
	b, err := r.books.openNamespaceBook(ctx, t.config.Namespace)
	if err != nil {
		return time.Time{}, 0, err
	}
	if earlierStart, isRecorded := b.recordedStartTime(t.id); isRecorded {
		return earlierStart, 0, nil
	}
	if !b.isFull() { // The receivers of a full book are not listed at each event.
		if _, err := r.recordReceivers(ctx, b); err != nil {
			return time.Time{}, 0, err
		}
		if err := b.saveChanges(ctx); err != nil {
			return time.Time{}, 0, err
		}
	}
	start, isKnown := b.recordedStartTime(t.id)
	switch {
	case isKnown:
		return start, 0, nil
	case b.isFull():
		r.log.Info("A namespace has too many receivers: one more gets no notifications", "namespace", t.config.Namespace, "receiver", string(t.id))
		return time.Time{}, notification.Absence, nil // Receivers that are missing go by then.
	}
	return time.Time{}, busyWait, nil
}

// enterConfig remembers which configuration the deployment has. It marks the newest transition for the receivers of a newly named
// configuration, also while no provider ran: they get outcomes from then on.
func (r *Reconciler) enterConfig(marks *book, d *observedDeployment, turns []*turn, outcomes []notification.Outcome) {
	newest, isBegun := notification.NewestMark(outcomes, d.Status.Transitions, r.now())
	marks.editContent(func(content *notification.Book) bool {
		if isBegun && content.HasMoved(d.Identity.ID(), d.namedConfig()) {
			for _, t := range turns {
				content.Set(d.Identity.ID(), t.id, newest)
			}
		}
		return content.SetConfig(d.Identity.ID(), d.namedConfig())
	})
}

// moveReceiverMarks moves the mark of each receiver to the last outcome before which none is left to be posted.
func (r *Reconciler) moveReceiverMarks(marks *book, d *observedDeployment, turns []*turn) {
	for _, t := range turns {
		n := t.countEndedPrefix()
		if n == 0 {
			continue
		}
		marks.editContent(func(content *notification.Book) bool {
			content.Set(d.Identity.ID(), t.id, notification.NewMark(&t.pending[n-1].Outcome, r.now()))
			return true
		})
	}
}

// countPending counts the notifications of a deployment that receivers have not taken.
func (r *Reconciler) countPending(recorded *note, n int) {
	r.counter.NotificationsPending(n - recorded.pending)
	recorded.pending = n
}

// shorterWait returns the shorter of two waits, of which 0 is none.
func shorterWait(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
