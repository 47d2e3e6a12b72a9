package setup

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A rated controller counts its reconciles by namespace.
type ratedController struct {
	reconcile.Reconciler

	count map[string]int
}

func newRatedController(name string, r *Rate) *ratedController {
	out := &ratedController{count: map[string]int{}}
	out.Reconciler = r.limitReconciler(name, reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
		out.count[req.Namespace]++
		return reconcile.Result{}, nil
	}))
	return out
}

// wait reconciles an object, and returns how long it has to wait.
func (c *ratedController) wait(t *testing.T, req reconcile.Request) time.Duration {
	t.Helper()
	res, err := c.Reconcile(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res.RequeueAfter
}

// TestRate has the objects of one namespace change 60,000 times. No object of another namespace waits for them.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate(100)
		gates, deliveries := newRatedController("gate", r), newRatedController("gitdelivery", r)
		for n := range 60_000 {
			gates.wait(t, request("hostile", n))
		}
		if wait := gates.wait(t, request("hostile", 60_000)); wait < time.Hour {
			t.Errorf("An object of a namespace with many objects waits for them.\nReconcile(...): waits %s", wait)
		}
		for name, c := range map[string]*ratedController{"Gate": gates, "GitDelivery": deliveries} {
			for n := range 20 {
				if wait := c.wait(t, request("good", n)); wait > 0 {
					t.Errorf("An object of another namespace does not wait.\nReconcile(...): a %s waits %s", name, wait)
				}
			}
		}
	})
}

// TestRateOfEvents has forty objects of one namespace name a Secret that changes four times a second, for ten minutes. Each event reconciles all of them, and
// each of them again when it is due.
func TestRateOfEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects, seconds = 40, 600
		r := NewRate(10)
		c := newRatedController("gate", r)
		longest, due := time.Duration(0), map[int]time.Time{}
		for range 4 * seconds {
			for n := range objects {
				wait := c.wait(t, request("hostile", n))
				longest, due[n] = max(longest, wait), time.Now().Add(wait)
			}
			<-time.After(time.Second / 4)
		}
		if limit := (objects + 1) * time.Second; longest > limit {
			t.Errorf("An object waits once for its turn, however many events it has.\nReconcile(...): want at most %s, got %s", limit, longest)
		}
		if got, minimum := c.count["hostile"], seconds; got < minimum {
			t.Errorf("A namespace has its share all the time.\nreconciles: want at least %d, got %d", minimum, got)
		}
		if wait := c.wait(t, request("good", 0)); wait > 0 {
			t.Errorf("An object of another namespace does not wait for events of others.\nReconcile(...): waits %s", wait)
		}
	})
}

// TestRateOfManyNamespaces has a hundred namespaces whose objects change all the time.
func TestRateOfManyNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perSecond, namespaces, seconds = 100, 100, 300
		c := newRatedController("gate", NewRate(perSecond))
		for range seconds {
			for n := range namespaces {
				for object := range 20 {
					c.wait(t, request(fmt.Sprint("team-", n), object))
				}
			}
			<-time.After(time.Second)
		}
		sum := 0
		for _, n := range c.count {
			sum += n
		}
		// Each namespace has its burst once. Then all of them have the rate together, with the tokens that a few reserved before the others
		// came.
		if limit := perSecond*allBurst + namespaces*perSecond/namespaceShare*namespaceBurst + 2*perSecond*seconds; sum > limit {
			t.Errorf("All namespaces together have no more than the rate.\nreconciles: want at most %d, got %d", limit, sum)
		}
		if diff := cmp.Diff(namespaces, len(c.count)); diff != "" {
			t.Errorf("Each namespace is reconciled.\nnamespaces: -want, +got:\n%s", diff)
		}
	})
}

// TestRateAlone has the objects of one namespace change as often as all controllers may reconcile.
func TestRateAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRatedController("gate", NewRate(100))
		for second := range 60 {
			for n := range 100 {
				if wait := c.wait(t, request("team-a", n)); wait > 0 {
					t.Fatalf("A namespace that is alone has the whole rate.\nReconcile(...): object %d waits %s in second %d", n, wait, second)
				}
			}
			<-time.After(time.Second)
		}
	})
}

// TestRateWithoutNamespace has the objects of an administrator change 60,000 times.
func TestRateWithoutNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRatedController("site", NewRate(100))
		for n := range 60_000 {
			if wait := c.wait(t, request("", n)); wait > 0 {
				t.Fatalf("An object of an administrator does not wait.\nReconcile(...): object %d waits %s", n, wait)
			}
		}
	})
}

// TestRateForgets has thousands of namespaces come and go.
func TestRateForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate(10)
		c := newRatedController("gate", r)
		for n := range 10 * manyShares {
			c.wait(t, request(fmt.Sprint("team-", n), 0))
			<-time.After(time.Second / 2)
		}
		if got := len(r.by); got > manyShares+1 {
			t.Errorf("A namespace that does nothing is forgotten.\nnamespaces: want at most %d, got %d", manyShares+1, got)
		}
	})
}
