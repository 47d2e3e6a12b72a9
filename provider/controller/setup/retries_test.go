package setup

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestRetries lets all objects of a namespace fail, as often as they may.
func TestRetries(t *testing.T) {
	const perSecond, objects, seconds = 100, 1000, 60
	now, fails := time.Now(), true
	reconciles := map[string]int{}
	retries := NewRetryShares(reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
		reconciles[req.Namespace]++
		return reconcile.Result{Requeue: fails && req.Namespace == "hostile"}, nil
	}), perSecond, func() time.Time { return now })
	all := func(namespace string) {
		for n := range objects {
			_, _ = retries.Reconcile(t.Context(), request(namespace, n))
		}
	}
	all("hostile") // The first reconcile of each object does not wait.
	all("hostile")
	for range seconds {
		now = now.Add(time.Second)
		all("hostile")
	}
	all("team-a")
	all("team-a")
	want := map[string]int{"hostile": objects + perSecond/shareOfRetries*(savedSeconds+seconds), "team-a": 2 * objects}
	if diff := cmp.Diff(want, reconciles); diff != "" {
		t.Errorf("Objects that fail have their namespace's share of the rate, and others do not wait.\nreconciles: -want, +got:\n%s", diff)
	}
	fails, reconciles = false, map[string]int{}
	for n := range objects {
		retries.Forgive(request("hostile", n).NamespacedName)
	}
	all("hostile")
	if diff := cmp.Diff(map[string]int{"hostile": objects}, reconciles); diff != "" {
		t.Errorf("Objects that are forgiven are reconciled at once.\nreconciles: -want, +got:\n%s", diff)
	}
	if len(retries.failed) != 0 {
		t.Errorf("A namespace without failures is forgotten.\nGot %d namespaces", len(retries.failed))
	}
}
