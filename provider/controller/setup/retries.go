package setup

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// shareOfRetries is the part of a controller's reconciles per second that one namespace has for objects whose last one failed.
	shareOfRetries = 10

	// savedSeconds is the burst of a namespace's share in seconds.
	savedSeconds = 10
)

// RetryShares gives each namespace its share of a controller's rate for objects whose last reconcile failed. Repeatedly failing objects would
// otherwise use up the rate of all controllers. It is safe for concurrent use.
type RetryShares struct {
	inner reconcile.Reconciler
	share rate.Limit
	now   func() time.Time

	mu     sync.Mutex
	failed map[string]*failures
}

// failures are the objects of one namespace whose last reconcile failed.
type failures struct {
	limiter *rate.Limiter
	// retryAt is the time of each object's retry. Zero is for an object without a reserved time.
	retryAt map[types.NamespacedName]time.Time
}

// NewRetryShares returns the retries of a controller that reconciles so many objects per second.
func NewRetryShares(r reconcile.Reconciler, perSecond int, now func() time.Time) *RetryShares {
	share := rate.Limit(float64(max(1, perSecond)) / shareOfRetries)
	return &RetryShares{inner: r, share: share, now: now, failed: map[string]*failures{}}
}

// Reconcile an object, unless it failed and has to wait for its retry.
func (r *RetryShares) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if wait := r.waitForTurn(req.NamespacedName); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	res, err := r.inner.Reconcile(ctx, req)
	//nolint:staticcheck // Requeue is the managed reconciler's result of a failure.
	if err != nil || res.Requeue {
		r.recordFailure(req.NamespacedName)
		return res, err
	}
	r.Forgive(req.NamespacedName)
	return res, nil
}

// Forgive an object that failed: it does not wait for its retry. It is called after a change of a dependency.
func (r *RetryShares) Forgive(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.failed[key.Namespace]
	if f == nil {
		return
	}
	if delete(f.retryAt, key); len(f.retryAt) == 0 {
		delete(r.failed, key.Namespace)
	}
}

// waitForTurn returns the time that an object has to wait for its retry, which it reserves once. It is not positive if the object need not wait.
func (r *RetryShares) waitForTurn(key types.NamespacedName) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.failed[key.Namespace]
	if f == nil {
		return 0
	}
	retryAt, failed := f.retryAt[key]
	if !failed {
		return 0
	}
	now := r.now()
	if retryAt.IsZero() {
		retryAt = now.Add(f.limiter.ReserveN(now, 1).DelayFrom(now))
		f.retryAt[key] = retryAt
	}
	return retryAt.Sub(now)
}

func (r *RetryShares) recordFailure(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.failed[key.Namespace]
	if f == nil {
		limiter := rate.NewLimiter(r.share, max(1, int(r.share*savedSeconds)))
		f = &failures{limiter: limiter, retryAt: map[types.NamespacedName]time.Time{}}
		r.failed[key.Namespace] = f
	}
	f.retryAt[key] = time.Time{}
}
