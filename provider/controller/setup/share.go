package setup

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"golang.org/x/time/rate"
)

const (
	// namespaceShare is the part of all reconciles per second that one namespace has of a controller, and namespaceBurst for how many seconds
	// they may come at once.
	namespaceShare, namespaceBurst = 10, 10

	// manyShares is from how many on those that are not used are forgotten.
	manyShares = 1000
)

// RateShares let each namespace take only its part of a rate limiter that all controllers use: objects of a namespace that change all the time
// wait for each other, and objects of other namespaces do not wait for them. While more than half of what may come at once is left, a namespace
// may take more than its part. It is safe for concurrent use.
type RateShares struct {
	ratelimiter.RateLimiter

	perSecond rate.Limit
	burst     int

	mu sync.Mutex
	by map[string]*rate.Limiter
}

// NewRateShares returns the shares of a limiter that allows so many reconciles per second.
func NewRateShares(all ratelimiter.RateLimiter, perSecond int) *RateShares {
	per := max(1, perSecond/namespaceShare)
	return &RateShares{RateLimiter: all, perSecond: rate.Limit(per), burst: per * namespaceBurst, by: map[string]*rate.Limiter{}}
}

// When an item may be reconciled, which ends with its namespace and its name. An item that waits for its namespace takes nothing of the others'.
func (s *RateShares) When(item string) time.Duration {
	if !s.isSpare() {
		if d := s.limiterFor(item).Reserve().Delay(); d > 0 {
			return d
		}
	}
	return s.RateLimiter.When(item)
}

// A tokenBucket says how much may come at once, and what is left of that. Crossplane's global limiter is one.
type tokenBucket interface {
	Tokens() float64
	Burst() int
}

// isSpare is true while more than half of what may come at once is left. Of a limiter that does not say so nothing is spare.
func (s *RateShares) isSpare() bool {
	b, ok := s.RateLimiter.(tokenBucket)
	return ok && b.Tokens() > float64(b.Burst())/2
}

// limiterFor returns the limiter of an item's namespace.
func (s *RateShares) limiterFor(item string) *rate.Limiter {
	namespace := item[:max(0, strings.LastIndex(item, "/"))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.by) >= manyShares {
		maps.DeleteFunc(s.by, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= float64(s.burst) })
	}
	l, ok := s.by[namespace]
	if !ok {
		l = rate.NewLimiter(s.perSecond, s.burst)
		s.by[namespace] = l
	}
	return l
}
