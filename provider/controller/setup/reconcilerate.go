package setup

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// namespaceShare is the part of all reconciles per second that one namespace has, and namespaceBurst its burst in seconds.
	namespaceShare, namespaceBurst = 10, 10

	// allBurst is the burst of all namespaces in seconds. One half of them is for namespaces that did little before.
	allBurst = 20

	// cheapFactor is the factor by which the rate of cheap controllers is higher.
	cheapFactor = 10

	// manyShares is the number of shares from which unused shares are dropped.
	manyShares = 1000
)

// A Rate limits the rate of reconciles of all controllers together. While more than half of the reconciles that may come at once is left, a namespace may take
// more than its share. Beyond its share an object waits once, regardless of the number of its events, and the objects of other namespaces do not wait for it:
// nothing is reserved that they could use. It is safe for concurrent use.
type Rate struct {
	*ratelimiter.BucketRateLimiter

	perSecond int
	// cheap is the rate of controllers most of whose reconciles reach the control plane alone. Nil in a cheap Rate.
	cheap *Rate

	mu sync.Mutex
	by map[string]*namespaceRate
	// waiting is the number of namespaces with waiting objects.
	waiting int
}

// A namespaceRate is the share of one namespace, with the times of its waiting objects.
type namespaceRate struct {
	limiter *rate.Limiter
	turns   map[turnKey]time.Time
}

// A turnKey is an object of a controller.
type turnKey struct{ controller, name string }

// NewRate returns a Rate that allows so many reconciles per second.
func NewRate(perSecond int) *Rate {
	out := newUniformRate(perSecond)
	out.cheap = newUniformRate(perSecond * cheapFactor)
	return out
}

// newUniformRate returns a Rate that counts cheap and expensive reconciles equally.
func newUniformRate(perSecond int) *Rate {
	all := rate.NewLimiter(rate.Limit(perSecond), perSecond*allBurst)
	return &Rate{BucketRateLimiter: &ratelimiter.BucketRateLimiter{Limiter: all}, perSecond: perSecond, by: map[string]*namespaceRate{}}
}

// limitReconciler returns a reconciler that calls another one as often as the namespaces of its objects may.
func (r *Rate) limitReconciler(controller string, inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if wait := r.waitForTurn(controller, req.NamespacedName, time.Now()); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		return inner.Reconcile(ctx, req)
	})
}

// waitForTurn returns the time that an object has to wait, with a time that it reserves once. It is not positive if the object need not wait. Objects without a
// namespace belong to an administrator, and do not wait.
func (r *Rate) waitForTurn(controller string, object types.NamespacedName, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, key := r.namespaceRate(object.Namespace), turnKey{controller: controller, name: object.Name}
	turn, waits := n.turns[key]
	switch {
	case waits && now.Before(turn):
		return turn.Sub(now)
	case waits:
		r.endTurn(n, key)
	case object.Namespace != "" && !r.hasSpareTokens():
		if wait := r.reserveTurn(n, now); wait > 0 {
			r.beginTurn(n, key, now.Add(wait))
			return wait
		}
	}
	r.Allow() // Where nothing is left, the namespace has its share all the same.
	return 0
}

// hasSpareTokens is true while more than half of the reconciles that may come at once is left.
func (r *Rate) hasSpareTokens() bool { return r.Tokens() > float64(r.Burst())/2 }

// reserveTurn takes one reconcile of a namespace's share, and returns when it may be. While many namespaces wait, each has less.
func (r *Rate) reserveTurn(n *namespaceRate, now time.Time) time.Duration {
	n.limiter.SetLimitAt(now, rate.Limit(float64(r.perSecond)/float64(max(namespaceShare, r.waiting))))
	return n.limiter.ReserveN(now, 1).DelayFrom(now)
}

func (r *Rate) beginTurn(n *namespaceRate, key turnKey, turn time.Time) {
	if len(n.turns) == 0 {
		r.waiting++
	}
	n.turns[key] = turn
}

func (r *Rate) endTurn(n *namespaceRate, key turnKey) {
	if delete(n.turns, key); len(n.turns) == 0 {
		r.waiting--
	}
}

// namespaceRate returns the share of a namespace.
func (r *Rate) namespaceRate(namespace string) *namespaceRate {
	if len(r.by) >= manyShares {
		maps.DeleteFunc(r.by, func(_ string, n *namespaceRate) bool {
			return len(n.turns) == 0 && n.limiter.Tokens() >= float64(n.limiter.Burst())
		})
	}
	n, ok := r.by[namespace]
	if !ok {
		share := max(1, r.perSecond/namespaceShare)
		n = &namespaceRate{limiter: rate.NewLimiter(rate.Limit(share), share*namespaceBurst), turns: map[turnKey]time.Time{}}
		r.by[namespace] = n
	}
	return n
}
