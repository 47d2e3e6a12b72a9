package setup

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/provider/shares"
)

const (
	// shareOfWorkers is the part of a controller's workers that each namespace has, independent of other namespaces.
	shareOfWorkers = 4

	// lostTurn is the time after which an object with a lost event is reconciled.
	lostTurn = time.Minute
)

// WorkerShares gives each namespace its share of a controller's workers, so that objects which wait for a server that does not answer keep no
// worker from other namespaces. While less than half of all workers have something to do, a namespace may have more than its share. It does not
// have more than half, even when it is alone: a worker cannot be taken back from an object that waits for a server, and a namespace that comes next
// would wait as long. Objects that get no worker wait in the order in which they came. It is safe for concurrent use.
type WorkerShares struct {
	inner reconcile.Reconciler
	share int
	half  int
	wake  func(types.NamespacedName)

	mu      sync.Mutex
	working int
	queues  map[string]*namespaceQueue
}

// A namespaceQueue has the number of a namespace's objects with a worker, and the objects that wait for a worker, in their order. An object that got a worker
// by another event stays in the order, and waits no longer: a search for it in a queue of thousands would be at the cost of all namespaces.
type namespaceQueue struct {
	working int
	waiting []types.NamespacedName
	waits   map[types.NamespacedName]bool
}

// NewWorkerShares returns the turns at so many workers. Wake enqueues an object for a reconcile, and must not block.
func NewWorkerShares(r reconcile.Reconciler, workers int, wake func(types.NamespacedName)) *WorkerShares {
	return &WorkerShares{inner: r, share: max(1, workers/shareOfWorkers), half: workers / 2, wake: wake, queues: map[string]*namespaceQueue{}}
}

// Reconcile an object at once if its namespace has a free worker, and otherwise when a worker becomes free. The namespace pays for what the reconcile
// reads.
func (t *WorkerShares) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if !t.tryTakeWorker(req.NamespacedName) {
		return reconcile.Result{RequeueAfter: lostTurn}, nil
	}
	defer t.returnWorker(req.Namespace)
	return t.inner.Reconcile(shares.WithPayer(ctx, req.Namespace), req)
}

// tryTakeWorker takes a worker. It is false if the object has to wait, and is woken.
func (t *WorkerShares) tryTakeWorker(key types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key.Namespace]
	if q == nil {
		q = &namespaceQueue{waits: map[types.NamespacedName]bool{}}
		t.queues[key.Namespace] = q
	}
	if q.working >= t.share && t.working >= t.half {
		if !q.waits[key] {
			q.waits[key] = true
			q.waiting = append(q.waiting, key)
		}
		return false
	}
	q.working++
	t.working++
	delete(q.waits, key)
	return true
}

// returnWorker gives a worker back, and wakes the next object of the namespace.
func (t *WorkerShares) returnWorker(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[namespace]
	q.working--
	t.working--
	for len(q.waiting) > 0 {
		next := q.waiting[0]
		if q.waiting = q.waiting[1:]; q.waits[next] {
			delete(q.waits, next)
			t.wake(next)
			return
		}
	}
	if q.working == 0 {
		delete(t.queues, namespace)
	}
}
