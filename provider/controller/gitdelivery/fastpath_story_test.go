package gitdelivery

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
)

// A counter counts reconciles that are for good.
type counter struct {
	world *world
	count int
	// during is called in each of them.
	during func() error
}

// Reconcile as the provider does.
func (c *counter) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	c.count++
	res, err := c.world.reconciler().Reconcile(ctx, req)
	return res, errors.Join(err, c.during())
}

// calmly reconciles the delivery some time later, unless it needs nothing, and returns whether it was for good.
func (c *counter) calmly(elapsed time.Duration) bool {
	baseline := c.count
	c.world.pass(elapsed)
	_, _ = c.world.calm.Reconcile(c.world.Context(), request("web"))
	return c.count > baseline
}

func TestCalm(t *testing.T) {
	web := client.ObjectKey{Namespace: "team-a", Name: "web"}
	notice := func(w *world, name string) {
		o := &v1alpha1.GitDelivery{}
		o.SetNamespace("team-a")
		o.SetName(name)
		nobody := predicate.NewPredicateFuncs(func(client.Object) bool { return false })
		w.calm.InvalidateOnChange(nobody).Update(event.UpdateEvent{ObjectOld: o, ObjectNew: o})
	}
	cases := map[string]struct {
		reason string
		before func(w *world, c *counter)
		after  func(w *world)
		wait   time.Duration
		want   bool
	}{
		"Nothing":   {reason: "An unchanged delivery is not reconciled in full."},
		"Disturbed": {reason: "An invalidated delivery is reconciled.", after: func(w *world) { w.calm.Invalidate(web) }, want: true},
		"Woken": {
			reason: "A delivery that waited for its repository is reconciled.",
			after:  func(w *world) { w.calm.InvalidateAndWake((&setup.EventSource{}).Wake)(web) }, want: true,
		},
		"Changed":      {reason: "A change that requeues no delivery still invalidates the observation.", after: func(w *world) { notice(w, "web") }, want: true},
		"OtherChanged": {reason: "A change of another delivery does not invalidate the observation.", after: func(w *world) { notice(w, "other") }},
		"Stranger": {
			reason: "A branch with a new tip lets the delivery be reconciled.",
			after:  func(w *world) { w.push(map[string]string{"x": "y"}) }, want: true,
		},
		"StateMoved": {reason: "A state that moved lets the delivery be reconciled.", after: func(w *world) { w.moveState() }, want: true},
		"Unreachable": {
			reason: "An unreadable repository lets the delivery be reconciled.",
			after:  func(w *world) { w.git.Fail(repo, http.StatusServiceUnavailable) }, want: true,
		},
		"LongAgo":      {reason: "A delivery without events is reconciled after a long interval.", wait: 2 * time.Hour, want: true},
		"NotYetLooked": {reason: "A look that is new enough is good enough", after: func(w *world) { w.push(map[string]string{"x": "y"}) }, wait: time.Second},
		"WhileLooked":  {reason: "A change during the reconcile leaves no observation.", before: func(w *world, c *counter) { c.during = func() error { w.calm.Invalidate(web); return nil } }, want: true},
		"Failed": {
			reason: "A failed reconcile leaves no observation.",
			before: func(_ *world, c *counter) { c.during = func() error { return errors.New("boom") } }, want: true,
		},
		"Dropped": {
			reason: "An observation of a repository that the pool dropped does not count.",
			before: func(w *world, _ *counter) { w.calm.Every = 100 * time.Hour },
			after:  dropRepositories,
			want:   true,
		},
		"PauseOver": {
			reason: "A delivery is reconciled once its pause is over.", wait: 2 * time.Minute, want: true,
			before: func(w *world, c *counter) {
				c.during = func() error { w.calm.WakeAt(web, w.now().Add(90*time.Second)); return nil }
			},
		},
		"Pausing": {
			reason: "A delivery is not reconciled before its pause is over.",
			before: func(w *world, c *counter) {
				c.during = func() error { w.calm.WakeAt(web, w.now().Add(90*time.Second)); return nil }
			},
		},
		"WokenByOthers": {reason: "A mapping invalidates a delivery before it requeues it.", after: func(w *world) { mapped(w, web) }, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := &counter{world: w, during: func() error { return nil }}
			w.calm.Inner = c
			w.create(w.first())
			c.calmly(time.Minute)
			if tc.before != nil {
				tc.before(w, c)
			}
			if !c.calmly(time.Minute) {
				t.Fatal("a delivery that was just carried out is not reconciled again")
			}
			if tc.after != nil {
				tc.after(w)
			}
			if tc.wait == 0 {
				tc.wait = time.Minute
			}
			if diff := cmp.Diff(tc.want, c.calmly(tc.wait)); diff != "" {
				t.Errorf("\n%s\nReconcile(...): reconciled for good: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCalmUntilWake looks at a delivery on the fast path before its pause is over: the next look is at the end of the pause, and not an interval later.
func TestCalmUntilWake(t *testing.T) {
	w := newWorld(t)
	c := &counter{world: w, during: func() error { return nil }}
	w.calm.Inner = c
	w.create(w.first())
	c.calmly(time.Minute)
	c.during = func() error {
		w.calm.WakeAt(client.ObjectKey{Namespace: "team-a", Name: "web"}, w.now().Add(90*time.Second))
		return nil
	}
	if !c.calmly(time.Minute) {
		t.Fatal("a delivery that was just carried out is not reconciled again")
	}
	w.pass(time.Minute)
	res, err := w.calm.Reconcile(w.Context(), request("web"))
	w.must(err)
	if diff := cmp.Diff(30*time.Second, res.RequeueAfter); diff != "" {
		t.Errorf("Reconcile(...): the time until the next look: -want, +got:\n%s", diff)
	}
}

// dropRepositories lets the pool drop all repositories that were in use.
func dropRepositories(w *world) {
	w.pass(3 * time.Hour)
	otherClient, err := git.NewClient(git.Remote{URL: w.git.URL("other"), Branch: "main", StateRef: stateRef}, budget.New())
	w.must(err)
	_, err = w.pool.Open(otherClient)
	w.must(err)
}

// moveState adds a commit to the state that changes nothing.
func (w *world) moveState() {
	w.Helper()
	id, err := w.git.Git(w.Context(), repo, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit-tree", "-m", "Same", "-p", stateRef, stateRef+"^{tree}")
	w.must(err)
	_, err = w.git.Git(w.Context(), repo, "update-ref", stateRef, strings.TrimSpace(id))
	w.must(err)
}

// mapped lets something that the delivery depends on change.
func mapped(w *world, key client.ObjectKey) {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	w.calm.InvalidateMapped(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: key}}
	}).Create(w.Context(), event.CreateEvent{Object: site("edge1")}, q)
	if q.Len() != 1 {
		w.Fatal("the mapping requeues no delivery")
	}
}

// TestCalmAfterInterval ends the reconciles of an unchanged delivery with an interval.
func TestCalmAfterInterval(t *testing.T) {
	cases := map[string]struct {
		reason   string
		interval time.Duration
		want     bool
	}{
		"Conflict": {reason: "A delivery that is reconciled again soon, as after a conflict, does not take the fast path.", interval: setup.SoonInterval, want: true},
		"Usual":    {reason: "A delivery that is reconciled again after its interval takes the fast path.", interval: 30 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := &counter{world: w, during: func() error { return nil }}
			w.calm.Inner = reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				_, err := c.Reconcile(ctx, req)
				return reconcile.Result{RequeueAfter: tc.interval}, err
			})
			w.create(w.first())
			for range 2 {
				c.calmly(time.Minute)
			}
			if diff := cmp.Diff(tc.want, c.calmly(time.Minute)); diff != "" {
				t.Errorf("\n%s\nReconcile(...): reconciled for good: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
