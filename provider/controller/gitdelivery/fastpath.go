package gitdelivery

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/provider/git"
)

// A fastPath answers for deliveries that need nothing. A delivery that was found delivered stays so while it does not change, nor anything that it
// depends on, and the repository is where it was: to see that takes one comparison, and no object is read or written. From time to time all
// deliveries are reconciled in full, since some changes cause no event.
type fastPath struct {
	inner reconcile.Reconciler
	// every is how often a delivery is reconciled for good, by and large.
	every time.Duration
	now   func() time.Time
	// chance is a number below 1, another one each time.
	chance func() float64
	// onWake is called before a delivery is requeued, since something has changed that it depends on.
	onWake func(types.NamespacedName)
	// onDelete is called once a delivery is gone.
	onDelete func(types.NamespacedName)

	mu           sync.Mutex
	observations map[types.NamespacedName]observation
	inFlight     map[types.NamespacedName]*reconcileInFlight
	// requests of users that are not answered.
	requests map[types.NamespacedName]lookRequest
}

// soon is when a delivery is reconciled again whose status is a reason to record what follows by its mandate.
const soon = time.Second

// An observation is of a delivery that needs nothing.
type observation struct {
	repo remote
	// age that a look may have.
	age time.Duration
	// tip of the branch and of the state.
	tip, state string
	// wait until the next look, and no longer than until.
	wait  time.Duration
	until time.Time
}

// A reconcileInFlight is a reconcile that goes on.
type reconcileInFlight struct {
	// observed is what it saw, if the delivery needs nothing.
	observed *observation
	// invalidated is true if something changed meanwhile that it may not have seen.
	invalidated bool
}

func newFastPath(every time.Duration, now func() time.Time, chance func() float64) *fastPath {
	ignore := func(types.NamespacedName) {}
	return &fastPath{
		every: every, now: now, chance: chance, onWake: ignore, onDelete: ignore,
		observations: map[types.NamespacedName]observation{}, inFlight: map[types.NamespacedName]*reconcileInFlight{}, requests: map[types.NamespacedName]lookRequest{},
	}
}

// Reconcile reconciles a delivery, unless it still needs nothing. It returns the errors of the reconciler within.
func (c *fastPath) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if s, ok := c.cachedObservation(req.NamespacedName); ok && c.isUnchanged(ctx, req.NamespacedName, s) {
		return reconcile.Result{RequeueAfter: s.wait}, nil
	}
	c.beginReconcile(req.NamespacedName)
	res, err := c.inner.Reconcile(ctx, req)
	c.endReconcile(req.NamespacedName, res, err)
	return res, err
}

func (c *fastPath) cachedObservation(key types.NamespacedName) (observation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.observations[key]
	return s, ok && c.now().Before(s.until)
}

// isUnchanged is true if the repository is where it was. One that cannot be read is not, and what a closed one held does not count: to read it
// again would take memory that no pool counts.
func (c *fastPath) isUnchanged(ctx context.Context, key types.NamespacedName, s observation) bool {
	if s.repo.IsClosed() {
		return false
	}
	seen, err := s.repo.Look(ctx, key, c.now().Add(-s.age))
	if err != nil || seen.Tip() != s.tip || seen.StateTip() != s.state {
		return false
	}
	_, ok := c.cachedObservation(key) // It may have been invalidated while the repository was looked at.
	return ok
}

func (c *fastPath) beginReconcile(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.observations, key)
	c.inFlight[key] = &reconcileInFlight{}
}

// noteUnchanged notes that the delivery, which is being reconciled, needs nothing.
func (c *fastPath) noteUnchanged(key types.NamespacedName, repo remote, age time.Duration, s *git.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.inFlight[key]; ok {
		v.observed = &observation{repo: repo, age: age, tip: s.Tip(), state: s.StateTip()}
	}
}

// endReconcile ends a reconcile. A delivery that failed, or that has to be reconciled again soon, does not take the fast path.
func (c *fastPath) endReconcile(key types.NamespacedName, res reconcile.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.inFlight[key]
	delete(c.inFlight, key)
	if err != nil || res.RequeueAfter <= soon || v.observed == nil || v.invalidated {
		return
	}
	s := *v.observed
	s.wait = res.RequeueAfter
	// Deliveries that took the fast path together must not all be reconciled together.
	s.until = c.now().Add(time.Duration(2 * c.chance() * float64(c.every)))
	c.observations[key] = s
}

// invalidate forgets the cached observation of a delivery. It is called before the delivery is requeued.
func (c *fastPath) invalidate(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.observations, key)
	if v, ok := c.inFlight[key]; ok {
		v.invalidated = true
	}
}

// invalidateMapped returns a handler that invalidates all deliveries which it requeues.
func (c *fastPath) invalidateMapped(fn handler.MapFunc) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		woken := fn(ctx, o)
		for _, req := range woken {
			c.invalidate(req.NamespacedName)
			c.onWake(req.NamespacedName)
		}
		return woken
	})
}

// invalidateAndWake returns a function that invalidates a delivery and requeues it.
func (c *fastPath) invalidateAndWake(wake func(types.NamespacedName)) func(types.NamespacedName) {
	return func(key types.NamespacedName) {
		c.invalidate(key)
		c.onWake(key)
		wake(key)
	}
}

// invalidateOnChange returns a predicate that invalidates a delivery which changes in any way, also if the change does not pass. A handler of
// its own might run after the one that requeues the delivery.
func (c *fastPath) invalidateOnChange(p predicate.Predicate) predicate.Predicate {
	return predicate.And(predicate.NewPredicateFuncs(func(o client.Object) bool {
		c.invalidate(client.ObjectKeyFromObject(o))
		return true
	}), p)
}
