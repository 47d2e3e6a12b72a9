// Package notification posts the outcomes of deployments to the receivers of the configuration that they name.
//
// A reconcile posts the outcomes that the status of a deployment shows after the mark of each receiver, and moves the mark. A request without a name is about the
// marks of a namespace: it notes which receivers are there, and drops the marks of what is gone.
package notification

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// ledgerWait is how long a notification waits while no delivery of its deployment has the ledger.
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

	// NotificationsPending adds more, which may be negative, to the number of notifications that are pending.
	NotificationsPending(more int)
}

// A Reconciler posts the outcomes of the deployments of one API group.
type Reconciler struct {
	kube client.Client
	// live reads what is not cached: Secrets.
	live  client.Reader
	gvk   schema.GroupVersionKind
	books *books
	// hosts are those to which notifications of ProviderConfigs may be posted.
	hosts   []string
	poster  Poster
	counter Counter
	now     func() time.Time
	log     logging.Logger
	notes   *setup.Memory[note]
	// wake lets a deployment or the marks of a namespace be reconciled.
	wake func(types.NamespacedName)
}

// A note is what is remembered of a deployment from one reconcile to the next.
type note struct {
	// config is the configuration that the deployment named, as long as uid and generation are the same. Empty before it was read.
	config     notification.Config
	uid        string
	generation int64

	// pending is how many notifications receivers have not taken.
	pending int

	backoff *notification.Backoff
}

func newNote() *note { return &note{backoff: notification.NewBackoff()} }

// read remembers what a deployment names.
func (n *note) read(d *observedDeployment) {
	n.uid, n.generation, n.config = d.Identity.UID, d.Generation, d.config()
}

// Reconcile posts what the receivers of a deployment have not taken. It returns an error if something cannot be read, or a mark cannot be written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.Name == "" {
		return r.reconcileBook(ctx, req.Namespace)
	}
	known := r.notes.NoteFor(req.NamespacedName)
	wanted, err := r.isWanted(ctx, req.NamespacedName, known)
	if err != nil || !wanted {
		return reconcile.Result{}, err
	}
	d, err := r.getDeployment(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if d == nil {
		r.countPending(known, 0)
		r.notes.ForgetNote(req.NamespacedName)
		return r.reconcileBook(ctx, req.Namespace)
	}
	return r.reconcileDeployment(ctx, d, known)
}

// reconcileDeployment posts to each receiver the outcomes after its mark.
func (r *Reconciler) reconcileDeployment(ctx context.Context, d *observedDeployment, known *note) (reconcile.Result, error) {
	if known.uid != "" && known.uid != d.Identity.UID { // The deployment was created again under its name.
		if _, err := r.reconcileBook(ctx, d.Identity.Namespace); err != nil {
			return reconcile.Result{}, err
		}
	}
	hasMoved := known.uid == d.Identity.UID && known.config != d.config()
	outcomes, settles := notification.Outcomes(&d.Status, &ledger.State{}, r.now())
	turns, err := r.turnsOf(ctx, d)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(turns) == 0 || len(outcomes) == 0 {
		known.read(d)
		r.countPending(known, 0)
		return reconcile.Result{RequeueAfter: settles}, nil
	}
	marks, err := r.books.get(ctx, d.Identity.Namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	if hasMoved {
		r.skipPast(marks, d, turns)
	}
	known.read(d)
	if err := r.fillTurns(ctx, marks, d, turns); err != nil {
		return reconcile.Result{}, err
	}
	r.countPending(known, countNotifications(turns))
	retry := r.takeTurns(ctx, known.backoff, turns)
	r.moveMarks(marks, d, turns)
	r.countPending(known, countNotifications(turns))
	return reconcile.Result{RequeueAfter: soonest(settles, retry)}, marks.save(ctx)
}

// fillTurns gives each turn the notifications that its receiver has not taken. It returns an error if something cannot be read.
func (r *Reconciler) fillTurns(ctx context.Context, marks *book, d *observedDeployment, turns []*turn) error {
	state, err := setup.NewestLedger(ctx, r.kube, r.gvk.Group, types.NamespacedName{Namespace: d.Identity.Namespace, Name: d.Identity.Name})
	if err != nil {
		return err
	}
	outcomes, _ := notification.Outcomes(&d.Status, state, r.now())
	for _, t := range turns {
		if state.Epoch == 0 { // A notification has the epoch in its id.
			t.retry = ledgerWait
			continue
		}
		since, err := r.firstSeen(ctx, t)
		if err != nil {
			return err
		}
		marks.read(func(content *notification.Book) {
			mark := content.MarkOf(d.Identity.ID(), t.id, since)
			if floor := time.Unix(content.Floor, 0); since.Before(floor) {
				since = floor
			}
			for _, o := range notification.Untold(outcomes, d.Status.Transitions, mark, since) {
				t.add(notification.Notification{Outcome: o, Deployment: d.Identity})
			}
		})
	}
	return nil
}

// firstSeen returns since when the receiver of a turn is there. It returns an error if that cannot be read or noted.
func (r *Reconciler) firstSeen(ctx context.Context, t *turn) (time.Time, error) {
	b, err := r.books.get(ctx, t.config.Namespace)
	if err != nil {
		return time.Time{}, err
	}
	if since, known := b.sinceOf(t.id); known {
		return since, nil
	}
	if _, err := r.reconcileBook(ctx, t.config.Namespace); err != nil {
		return time.Time{}, err
	}
	since, _ := b.sinceOf(t.id)
	return since, nil
}

// skipPast marks the newest transition for the receivers of a configuration that the deployment begins to name: they get outcomes from then on.
func (r *Reconciler) skipPast(marks *book, d *observedDeployment, turns []*turn) {
	newest := d.Status.Transitions[len(d.Status.Transitions)-1]
	marks.edit(func(content *notification.Book) bool {
		for _, t := range turns {
			content.Set(d.Identity.ID(), t.id, notification.Mark{Index: newest.Index, At: newest.At.Unix()})
		}
		return true
	})
}

// moveMarks moves the mark of each receiver to the last outcome before which none is left to be posted.
func (r *Reconciler) moveMarks(marks *book, d *observedDeployment, turns []*turn) {
	for _, t := range turns {
		n := t.endedInRow()
		if n == 0 {
			continue
		}
		marks.edit(func(content *notification.Book) bool {
			content.Set(d.Identity.ID(), t.id, notification.NewMark(&t.pending[n-1].Outcome))
			return true
		})
	}
}

// countPending counts the notifications of a deployment that receivers have not taken.
func (r *Reconciler) countPending(known *note, n int) {
	r.counter.NotificationsPending(n - known.pending)
	known.pending = n
}

// reconcileBook notes which receivers the configurations of a namespace have, or ClusterProviderConfigs where it is empty, and drops the marks of receivers and
// deployments that are gone. It returns an error if something cannot be read or written.
func (r *Reconciler) reconcileBook(ctx context.Context, namespace string) (reconcile.Result, error) {
	present, err := r.presentReceivers(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	b, err := r.books.get(ctx, namespace)
	if err != nil {
		return reconcile.Result{}, err
	}
	hasChanged, again := false, time.Duration(0)
	b.edit(func(content *notification.Book) bool {
		hasChanged, again = content.See(present, r.now())
		return hasChanged
	})
	if err := r.dropMarks(ctx, b, namespace, hasChanged); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: again}, b.save(ctx)
}

// dropMarks drops the marks of deployments of a namespace that do not exist, and of receivers that are not known any more. Where the receivers of
// ClusterProviderConfigs have changed, it wakes the marks of all namespaces.
func (r *Reconciler) dropMarks(ctx context.Context, b *book, namespace string, hasChanged bool) error {
	switch {
	case namespace == "" && hasChanged:
		return r.wakeBooks(ctx)
	case namespace == "":
		return nil
	}
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
	if err := r.kube.List(ctx, l, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return errors.Wrap(err, "cannot list deployments")
	}
	existing := sets.New[notification.DeploymentID]()
	for i := range l.Items {
		d := notification.Deployment{APIVersion: r.gvk.GroupVersion().String(), UID: string(l.Items[i].UID)}
		existing.Insert(d.ID())
	}
	isOther := func(d notification.DeploymentID) bool { return !strings.HasPrefix(string(d), r.gvk.Group+"/") }
	shared, err := r.books.get(ctx, "")
	if err != nil {
		return err
	}
	known := sets.New(shared.receivers()...)
	b.edit(func(content *notification.Book) bool {
		return content.Keep(func(d notification.DeploymentID) bool { return existing.Has(d) || isOther(d) }, func(id notification.ReceiverID) bool {
			_, isOwn := content.Receivers[id]
			return isOwn || known.Has(id)
		})
	})
	return nil
}

// wakeBooks lets the marks of each namespace be looked at, also of one whose deployments were deleted while no provider ran.
func (r *Reconciler) wakeBooks(ctx context.Context) error {
	all, err := r.books.namespaces(ctx)
	for _, namespace := range all {
		r.wake(types.NamespacedName{Namespace: namespace})
	}
	return err
}

// requestsFor returns the requests for a configuration that changed: for the marks of its namespace, and for the deployments that may name it.
func (r *Reconciler) requestsFor(ctx context.Context, config client.Object) []reconcile.Request {
	out := []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: config.GetNamespace()}}}
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
	if err := r.kube.List(ctx, l, client.InNamespace(config.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		r.log.Info("Cannot list the deployments that a configuration may be about", "error", err)
		return out
	}
	for i := range l.Items {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
	}
	return out
}

// soonest returns the shorter of two waits, of which 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
