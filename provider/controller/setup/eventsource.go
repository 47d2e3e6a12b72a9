package setup

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// An EventSource wakes objects for changes that no watch of the controller reports. Its callers never wait. It is safe for concurrent use.
type EventSource struct {
	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
	// early are requests from before the start of the controller.
	early []reconcile.Request
}

// Wake enqueues an object for a reconcile.
func (b *EventSource) Wake(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := reconcile.Request{NamespacedName: key}
	if b.queue == nil {
		b.early = append(b.early, r)
		return
	}
	b.queue.Add(r)
}

// Start makes an EventSource a source of a controller. It never fails.
func (b *EventSource) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = queue
	for _, r := range b.early {
		queue.Add(r)
	}
	b.early = nil
	return nil
}
