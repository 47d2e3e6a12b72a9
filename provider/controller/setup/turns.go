package setup

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// shareOfWorkers is the part of a controller's workers that one namespace has.
	shareOfWorkers = 4

	// lostTurn is when an object is reconciled whose wake was lost.
	lostTurn = time.Minute
)

// Turns gives each namespace its share of a controller's workers, so that objects which wait for a server that does not answer keep no
// worker from other namespaces. Objects beyond the share wait in the order in which they came, without a worker. It is safe for concurrent use.
type Turns struct {
	inner reconcile.Reconciler
	most  int
	wake  func(types.NamespacedName)

	mu sync.Mutex
	by map[string]*crowd
}

// A crowd is the objects of one namespace that have a worker, and those that wait for one.
type crowd struct {
	working int
	waiting []types.NamespacedName
}

// NewTurns returns the turns at so many workers. Wake lets an object be reconciled, and must not block.
func NewTurns(r reconcile.Reconciler, workers int, wake func(types.NamespacedName)) *Turns {
	return &Turns{inner: r, most: max(1, workers/shareOfWorkers), wake: wake, by: map[string]*crowd{}}
}

// Reconcile an object if its namespace has a worker left, and otherwise when it has one.
func (t *Turns) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if !t.enter(req.NamespacedName) {
		return reconcile.Result{RequeueAfter: lostTurn}, nil
	}
	defer t.leave(req.Namespace)
	return t.inner.Reconcile(ctx, req)
}

// enter takes a worker. It is false if the object has to wait, and is woken.
func (t *Turns) enter(key types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.by[key.Namespace]
	if c == nil {
		c = &crowd{}
		t.by[key.Namespace] = c
	}
	if c.working < t.most {
		c.working++
		c.waiting = slices.DeleteFunc(c.waiting, func(waits types.NamespacedName) bool { return waits == key })
		return true
	}
	if !slices.Contains(c.waiting, key) {
		c.waiting = append(c.waiting, key)
	}
	return false
}

// leave gives a worker back, and wakes the next object of the namespace.
func (t *Turns) leave(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.by[namespace]
	c.working--
	if len(c.waiting) > 0 {
		t.wake(c.waiting[0])
		c.waiting = c.waiting[1:]
		return
	}
	if c.working == 0 {
		delete(t.by, namespace)
	}
}
