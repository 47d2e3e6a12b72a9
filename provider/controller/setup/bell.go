package setup

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A Bell wakes objects for what no watch of the controller tells. Whoever rings never waits. It is safe for concurrent use.
type Bell struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// early are those that were rung for before the controller began.
	early []reconcile.Request
}

// Ring lets an object be reconciled.
func (b *Bell) Ring(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := reconcile.Request{NamespacedName: key}
	if b.queue == nil {
		b.early = append(b.early, r)
		return
	}
	b.queue.Add(r)
}

// Start makes a Bell a source of a controller. It never fails.
func (b *Bell) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = queue
	for _, r := range b.early {
		queue.Add(r)
	}
	b.early = nil
	return nil
}
