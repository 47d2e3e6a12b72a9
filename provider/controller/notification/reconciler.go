// Package notification posts the outcomes of deployments to the receivers of the configuration that they name.
//
// A reconcile collects the outcomes that the status of a deployment shows into the record of the deployment, posts what is pending there, and removes from
// the record what was taken. So an outcome survives a restart of the provider, and the deletion of its deployment.
package notification

import (
	"context"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// A Poster posts an outcome to a receiver.
type Poster interface {
	// Post posts an outcome. Its errors hold no secret.
	Post(ctx context.Context, r *notification.Receiver, what *notification.Pending) error
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
	live    client.Reader
	gvk     schema.GroupVersionKind
	records store
	// hosts are those to which notifications of ProviderConfigs may be posted.
	hosts   []string
	poster  Poster
	backoff *notification.Backoff
	counter Counter
	now     func() time.Time
	log     logging.Logger

	mu sync.Mutex
	// pending is how many notifications each deployment has that has a record.
	pending map[types.NamespacedName]int
	// configs are the configurations that deployments named when they were read last.
	configs map[types.NamespacedName]namedConfig
}

// Reconcile posts what the receivers of a deployment have not taken. It returns an error if something cannot be read, or the record cannot be written.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	known := r.hasRecord(req.NamespacedName)
	if wanted, err := r.hasReceivers(ctx); err != nil || !wanted && !known {
		return reconcile.Result{}, err
	}
	if unwanted, err := r.isUnwanted(ctx, req.NamespacedName); err != nil || unwanted && !known {
		return reconcile.Result{}, err
	}
	d, err := r.getDeployment(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.noteConfig(req.NamespacedName, d)
	if settles, hasEnded := hasOutcome(d, r.now()); !hasEnded && !known {
		return reconcile.Result{RequeueAfter: settles}, nil
	}
	return r.reconcileRecord(ctx, req, d)
}

// reconcileRecord adds to the record of a deployment what its status shows, and posts what is pending there. Where nothing is pending any more, a deployment that
// is gone or has no receivers loses its record: receivers that are added later begin with outcomes of that time.
func (r *Reconciler) reconcileRecord(ctx context.Context, req reconcile.Request, d *observedDeployment) (reconcile.Result, error) {
	rec, err := r.records.get(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	receivers, err := r.receiversOf(ctx, d)
	if err != nil {
		return reconcile.Result{}, err
	}
	settles, err := r.collectOutcomes(ctx, req.NamespacedName, d, receivers, rec)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.countPending(req.NamespacedName, rec)
	retry, err := r.postPending(ctx, req.NamespacedName, rec)
	r.countPending(req.NamespacedName, rec)
	if err != nil {
		return reconcile.Result{}, err
	}
	if len(receivers) == 0 && len(rec.Pending) == 0 {
		return reconcile.Result{}, r.forgetRecord(ctx, req.NamespacedName, rec)
	}
	return reconcile.Result{RequeueAfter: soonest(settles, retry)}, nil
}

// hasRecord reports whether a deployment has a record, as far as this process knows.
func (r *Reconciler) hasRecord(key types.NamespacedName) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.pending[key]
	return known
}

// hasOutcome reports whether the status of a deployment shows an outcome, and how long one has to wait until it counts, or 0.
func hasOutcome(d *observedDeployment, now time.Time) (settles time.Duration, hasEnded bool) {
	if d == nil {
		return 0, false
	}
	outcomes, settles := notification.Outcomes(&d.Status, &ledger.State{}, now)
	return settles, len(outcomes) > 0
}

// collectOutcomes adds the new outcomes of a deployment with receivers to its record, and writes it if there are some. It returns how long an outcome has to wait
// until it counts, or 0.
func (r *Reconciler) collectOutcomes(ctx context.Context, key types.NamespacedName, d *observedDeployment, receivers []configv1alpha1.Notification, rec *storedRecord) (time.Duration, error) {
	if len(receivers) == 0 {
		return 0, nil
	}
	state, err := setup.NewestLedger(ctx, r.kube, r.gvk.Group, key)
	if err != nil {
		return 0, err
	}
	outcomes, settles := notification.Outcomes(&d.Status, state, r.now())
	full, changed := rec.Add(d.Identity, outcomes, d.config(), receivers, r.now())
	if !changed {
		return settles, nil
	}
	for i := range full {
		for _, receiver := range full[i].Receivers {
			r.giveUp(ctx, notification.Attempt{ID: full[i].ID(), Receiver: receiver}, &full[i], "", errors.New("too many later ones wait"))
		}
	}
	return settles, r.records.put(ctx, key, rec)
}

// countPending counts the notifications of a deployment that receivers have not taken: none if its record was deleted.
func (r *Reconciler) countPending(key types.NamespacedName, rec *storedRecord) {
	n := 0
	for i := range rec.Pending {
		n += len(rec.Pending[i].Receivers)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.pending[key]; !known && rec.object == nil {
		return
	}
	r.counter.NotificationsPending(n - r.pending[key])
	r.pending[key] = n
}

// forgetRecord deletes the record of a deployment that does not exist or has no receivers, and of which nothing is pending.
func (r *Reconciler) forgetRecord(ctx context.Context, key types.NamespacedName, rec *storedRecord) error {
	if err := r.records.remove(ctx, rec); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, key)
	return nil
}

// wakeRecorded lets each deployment that has a record be reconciled, also one that was deleted while no provider ran.
func (r *Reconciler) wakeRecorded(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	keys, err := r.records.list(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range keys {
		r.pending[key] += 0
		queue.Add(reconcile.Request{NamespacedName: key})
	}
	return nil
}

// soonest returns the shorter of two waits, of which 0 is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
