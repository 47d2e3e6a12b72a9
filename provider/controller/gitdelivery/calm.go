package gitdelivery

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/intentplane/intentplane/provider/git"
)

// A calm reconciler leaves alone what needs nothing. What was found delivered stays so while nobody changes it, or anything that it
// depends on, and the repository is where it was: to see that takes one comparison, and no object is read or written. All
// deliveries are reconciled for good from time to time, since what nobody tells has to be seen too.
type calm struct {
	inner reconcile.Reconciler
	// every is how often a delivery is reconciled for good, by and large.
	every time.Duration
	now   func() time.Time
	// chance is a number below 1, another one each time.
	chance func() float64
	// woken is called before a delivery is woken, since something has changed that it depends on.
	woken func(types.NamespacedName)

	mu     sync.Mutex
	sights map[types.NamespacedName]sight
	visits map[types.NamespacedName]*visit
}

// A sight is a delivery that needs nothing.
type sight struct {
	repo remote
	// age that a look may have.
	age time.Duration
	// tip of the branch and of the state.
	tip, state string
	// wait until the next look, and no longer than until.
	wait  time.Duration
	until time.Time
}

// A visit is a reconcile that goes on.
type visit struct {
	// seen is what it saw, if the delivery needs nothing.
	seen *sight
	// disturbed is true if something happened meanwhile that it may not have seen.
	disturbed bool
}

func newCalm(every time.Duration, now func() time.Time, chance func() float64) *calm {
	return &calm{every: every, now: now, chance: chance, woken: func(types.NamespacedName) {}, sights: map[types.NamespacedName]sight{}, visits: map[types.NamespacedName]*visit{}}
}

// Reconcile a delivery, unless it still needs nothing. It returns the errors of the reconciler within.
func (c *calm) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if s, ok := c.sight(req.NamespacedName); ok && c.still(ctx, req.NamespacedName, s) {
		return reconcile.Result{RequeueAfter: s.wait}, nil
	}
	c.begin(req.NamespacedName)
	res, err := c.inner.Reconcile(ctx, req)
	c.end(req.NamespacedName, res, err)
	return res, err
}

func (c *calm) sight(key types.NamespacedName) (sight, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.sights[key]
	return s, ok && c.now().Before(s.until)
}

// still is true if the repository is where it was. One that cannot be read is not, and what a closed one held does not count: to read it
// again would take memory that no pool counts.
func (c *calm) still(ctx context.Context, key types.NamespacedName, s sight) bool {
	if s.repo.IsClosed() {
		return false
	}
	seen, err := s.repo.Look(ctx, key, c.now().Add(-s.age))
	if err != nil || seen.Tip() != s.tip || seen.StateTip() != s.state {
		return false
	}
	_, ok := c.sight(key) // It may have been disturbed while the repository was looked at.
	return ok
}

func (c *calm) begin(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sights, key)
	c.visits[key] = &visit{}
}

// note that the delivery, which is being reconciled, needs nothing.
func (c *calm) note(key types.NamespacedName, repo remote, age time.Duration, s *git.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.visits[key]; ok {
		v.seen = &sight{repo: repo, age: age, tip: s.Tip(), state: s.StateTip()}
	}
}

// end a reconcile. What failed, or has to be done again soon, is not calm.
func (c *calm) end(key types.NamespacedName, res reconcile.Result, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.visits[key]
	delete(c.visits, key)
	if err != nil || res.RequeueAfter == 0 || v.seen == nil || v.disturbed {
		return
	}
	s := *v.seen
	s.wait = res.RequeueAfter
	// Those that became calm together must not all come back together.
	s.until = c.now().Add(time.Duration(2 * c.chance() * float64(c.every)))
	c.sights[key] = s
}

// disturb a delivery. It is called before the delivery is woken.
func (c *calm) disturb(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sights, key)
	if v, ok := c.visits[key]; ok {
		v.disturbed = true
	}
}

// mapping disturbs all that are woken.
func (c *calm) mapping(fn handler.MapFunc) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		woken := fn(ctx, o)
		for _, req := range woken {
			c.disturb(req.NamespacedName)
			c.woken(req.NamespacedName)
		}
		return woken
	})
}

// waking disturbs one that is woken.
func (c *calm) waking(wake func(types.NamespacedName)) func(types.NamespacedName) {
	return func(key types.NamespacedName) {
		c.disturb(key)
		c.woken(key)
		wake(key)
	}
}

// noticing disturbs a delivery that changes in any way, also if that does not pass. A handler of its own might come after the one
// that wakes the delivery.
func (c *calm) noticing(p predicate.Predicate) predicate.Predicate {
	changed := func(o client.Object) { c.disturb(client.ObjectKeyFromObject(o)) }
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { changed(e.Object); return p.Create(e) },
		UpdateFunc:  func(e event.UpdateEvent) bool { changed(e.ObjectNew); return p.Update(e) },
		DeleteFunc:  func(e event.DeleteEvent) bool { changed(e.Object); return p.Delete(e) },
		GenericFunc: func(e event.GenericEvent) bool { changed(e.Object); return p.Generic(e) },
	}
}
