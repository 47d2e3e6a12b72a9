// Package fastpath skips the reconcile of deliveries that are unchanged, and records the requests of users for an observation.
package fastpath

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/git"
)

// A Reconciler skips the reconcile of deliveries that are unchanged. A delivered delivery stays delivered while its object, the objects that it depends on
// and the tips of the repository are unchanged: one comparison shows that, without a read or write of an object. From time to time each delivery is
// reconciled in full, because some changes cause no event.
type Reconciler struct {
	// Inner reconciles a delivery in full.
	Inner reconcile.Reconciler
	// Every is the mean interval of full reconciles of a delivery.
	Every time.Duration
	now   func() time.Time
	// chance returns a random number below 1.
	chance func() float64
	// OnWake is called before a delivery is requeued after a change of an object that it depends on.
	OnWake func(types.NamespacedName)
	// OnDelete is called once a delivery is gone.
	OnDelete func(types.NamespacedName)

	mu           sync.Mutex
	observations map[types.NamespacedName]observation
	inFlight     map[types.NamespacedName]*reconcileInFlight
	// requests of users that are still open, by delivery.
	requests map[types.NamespacedName]lookRequest
	// wakes are the times at which a delivery is reconciled although nothing changed: a pause ends then.
	wakes map[types.NamespacedName]time.Time
}

// A Repository is a repository, shared by all its deliveries.
type Repository interface {
	// Look returns a snapshot of the repository that is not older than the given time.
	Look(ctx context.Context, key types.NamespacedName, notBefore time.Time) (*git.Snapshot, error)
	// IsClosed reports whether the pool dropped the repository.
	IsClosed() bool
}

// An observation is the observed state of the repository of a delivery that needs no action.
type observation struct {
	repo Repository
	// age is the maximum age of an observation of the repository.
	age time.Duration
	// tip of the branch and of the state.
	tip, state string
	// wait is the requeue interval, and until is the time of the next full reconcile.
	wait  time.Duration
	until time.Time
}

// A reconcileInFlight is a reconcile in progress.
type reconcileInFlight struct {
	// observed is the observation of the reconcile, if the delivery needs no action.
	observed *observation
	// invalidated is true if an object changed meanwhile, which the reconcile may have read before.
	invalidated bool
}

// New returns a Reconciler with a mean interval of full reconciles, a clock, and a source of random numbers below 1.
func New(interval time.Duration, now func() time.Time, chance func() float64) *Reconciler {
	ignore := func(types.NamespacedName) {}
	return &Reconciler{
		Every: interval, now: now, chance: chance, OnWake: ignore, OnDelete: ignore,
		observations: map[types.NamespacedName]observation{}, inFlight: map[types.NamespacedName]*reconcileInFlight{},
		requests: map[types.NamespacedName]lookRequest{}, wakes: map[types.NamespacedName]time.Time{},
	}
}

// Reconcile reconciles a delivery, unless it still needs no action. It returns the errors of the inner reconciler.
func (c *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if s, ok := c.cachedObservation(req.NamespacedName); ok && c.isUnchanged(ctx, req.NamespacedName, s) {
		return reconcile.Result{RequeueAfter: c.UntilWake(req.NamespacedName, s.wait)}, nil
	}
	c.beginReconcile(req.NamespacedName)
	res, err := c.Inner.Reconcile(ctx, req)
	c.endReconcile(req.NamespacedName, res, err)
	return res, err
}

func (c *Reconciler) cachedObservation(key types.NamespacedName) (observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.observations[key]
	return s, ok && c.now().Before(s.until)
}

// isUnchanged is true if branch and state of the repository have the observed tips. It is false for an unreadable repository, and for a closed one: to
// read that again would take memory that no pool counts.
func (c *Reconciler) isUnchanged(ctx context.Context, key types.NamespacedName, s observation) bool {
	if s.repo.IsClosed() {
		return false
	}
	snapshot, err := s.repo.Look(ctx, key, c.now().Add(-s.age))
	if err != nil || snapshot.Tip() != s.tip || snapshot.StateTip() != s.state {
		return false
	}
	_, ok := c.cachedObservation(key) // The observation may have been invalidated during the read of the repository.
	return ok
}

func (c *Reconciler) beginReconcile(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.observations, key)
	c.inFlight[key] = &reconcileInFlight{}
}

// NoteUnchanged records that the delivery in this reconcile needs no action.
func (c *Reconciler) NoteUnchanged(key types.NamespacedName, repo Repository, age time.Duration, s *git.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.inFlight[key]; ok {
		v.observed = &observation{repo: repo, age: age, tip: s.Tip(), state: s.StateTip()}
	}
}

// endReconcile ends a reconcile. A delivery that failed, or that has to be reconciled again soon, does not take the fast path.
func (c *Reconciler) endReconcile(key types.NamespacedName, res reconcile.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.inFlight[key]
	delete(c.inFlight, key)
	if err != nil || res.RequeueAfter <= setup.SoonInterval || v.observed == nil || v.invalidated {
		return
	}
	s := *v.observed
	s.wait = res.RequeueAfter
	// Deliveries that took the fast path together must not all be reconciled together.
	s.until = c.now().Add(time.Duration(2 * c.chance() * float64(c.Every)))
	if wake, ok := c.wakes[key]; ok && c.now().Before(wake) && wake.Before(s.until) {
		s.until = wake
	}
	c.observations[key] = s
}

// WakeAt sets the time at which an unchanged delivery is reconciled. Zero means no such time.
func (c *Reconciler) WakeAt(key types.NamespacedName, wake time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wake.IsZero() {
		delete(c.wakes, key)
		return
	}
	c.wakes[key] = wake
}

// UntilWake returns the shorter of an interval and the time until an unchanged delivery is reconciled.
func (c *Reconciler) UntilWake(key types.NamespacedName, interval time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := c.wakes[key].Sub(c.now()); wait > 0 {
		return min(interval, wait)
	}
	return interval
}

// Invalidate forgets the cached observation of a delivery. It is called before the delivery is requeued.
func (c *Reconciler) Invalidate(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.observations, key)
	if v, ok := c.inFlight[key]; ok {
		v.invalidated = true
	}
}

// InvalidateMapped returns a handler that invalidates all deliveries which it requeues.
func (c *Reconciler) InvalidateMapped(fn handler.MapFunc) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		woken := fn(ctx, o)
		for _, req := range woken {
			c.Invalidate(req.NamespacedName)
			c.OnWake(req.NamespacedName)
		}
		return woken
	})
}

// InvalidateAndWake returns a function that invalidates a delivery and requeues it.
func (c *Reconciler) InvalidateAndWake(wake func(types.NamespacedName)) func(types.NamespacedName) {
	return func(key types.NamespacedName) {
		c.Invalidate(key)
		c.OnWake(key)
		wake(key)
	}
}

// InvalidateOnChange returns a predicate that invalidates each changed delivery, also if the predicate drops the change. A separate handler might run
// after the handler that requeues the delivery.
func (c *Reconciler) InvalidateOnChange(p predicate.Predicate) predicate.Predicate {
	return predicate.And(predicate.NewPredicateFuncs(func(o client.Object) bool {
		c.Invalidate(client.ObjectKeyFromObject(o))
		return true
	}), p)
}
