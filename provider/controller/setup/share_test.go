package setup

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestShare has the objects of one namespace change 60,000 times. No other namespace waits for them.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		global := ratelimiter.NewGlobal(100)
		done := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
		gates, deliveries := ratelimiter.NewReconciler("managed/gate", done, NewRateShares(global, 100)), ratelimiter.NewReconciler("managed/gitdelivery", done, global)
		for n := range 60_000 {
			_, _ = gates.Reconcile(t.Context(), request("hostile", n))
		}
		if res, _ := gates.Reconcile(t.Context(), request("hostile", 60_000)); res.RequeueAfter < time.Hour {
			t.Errorf("a namespace that does too much waits %s", res.RequeueAfter)
		}
		for name, r := range map[string]reconcile.Reconciler{"Gate": gates, "GitDelivery": deliveries} {
			if res, _ := r.Reconcile(t.Context(), request("good", 0)); res.RequeueAfter > 0 {
				t.Errorf("a %s of another namespace waits %s", name, res.RequeueAfter)
			}
		}
	})
}

// TestShareAlone has the objects of one namespace change as often as all controllers may reconcile.
func TestShareAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		share := NewRateShares(ratelimiter.NewGlobal(100), 100)
		for second := range 60 {
			for n := range 100 {
				if d := share.When(fmt.Sprintf("gate/team-a/%d", n)); d > 0 {
					t.Fatalf("A namespace that is alone has the whole rate.\nWhen(...): object %d waits %s in second %d", n, d, second)
				}
			}
			<-time.After(time.Second)
		}
	})
}
