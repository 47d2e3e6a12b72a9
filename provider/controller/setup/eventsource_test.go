package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestEventSource wakes before and after the controller began: Wake never blocks, and no event is lost.
func TestEventSource(t *testing.T) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	b := &EventSource{}
	b.Wake(named("early"))
	if err := b.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	b.Wake(named("late"))
	var got []string
	for range queue.Len() {
		r, _ := queue.Get()
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"early", "late"}, got); diff != "" {
		t.Errorf("woken: -want, +got:\n%s", diff)
	}
}
