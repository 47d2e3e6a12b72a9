package hooks

import (
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// hookSpacing is how often hooks of one Application are verified for long, and hookBurst how many at once.
	hookSpacing = 200 * time.Millisecond
	hookBurst   = 20

	// namespaceRate is how many verified hooks of one namespace are recorded per second for long, and namespaceBurst how many at once. Each record is a write
	// to the API server, which all namespaces share.
	namespaceRate  = 10
	namespaceBurst = 50

	// rates is how many rates are kept. Senders that share one share its hooks: what is kept does not grow with the names that are sent.
	rates = 4096

	// maxAtOnce is how many hooks are read at once, and maxOfSource how many of them of one address: who sends slowly does not take all places.
	maxAtOnce   = 64
	maxOfSource = 16
)

// A sender is an address that sends hooks of one Application. A sender that cannot sign hooks uses up the rate of its own address, and not that of the
// Git server. Behind a proxy that hides the address all senders of an Application share its rate.
type sender struct {
	application types.NamespacedName
	source      string
}

// readPlaces are the places of the hooks that are read at once.
type readPlaces struct {
	mu       sync.Mutex
	taken    int
	bySource map[string]int
}

func newReadPlaces() *readPlaces { return &readPlaces{bySource: map[string]int{}} }

// takePlace takes a place for a hook of an address, if one is free.
func (p *readPlaces) takePlace(source string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= maxAtOnce || p.bySource[source] >= maxOfSource {
		return false
	}
	p.taken++
	p.bySource[source]++
	return true
}

// freePlace gives a place back.
func (p *readPlaces) freePlace(source string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.bySource[source]--; p.bySource[source] == 0 {
		delete(p.bySource, source)
	}
}

// A rateLimit bounds how often hooks are verified.
type rateLimit struct {
	seed maphash.Seed

	mu sync.Mutex
	// until is when the hooks that were let through would be over, one in each spacing.
	until [rates]time.Time
}

func newRateLimit() *rateLimit { return &rateLimit{seed: maphash.MakeSeed()} }

// allowHook reports whether a hook is verified now.
func (l *rateLimit) allowHook(of sender, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := &l.until[maphash.Comparable(l.seed, of)%rates]
	if until.Before(now) {
		*until = now
	}
	if until.Sub(now) > (hookBurst-1)*hookSpacing {
		return false
	}
	*until = until.Add(hookSpacing)
	return true
}

// A namespaceLimit bounds how often hooks of one namespace are recorded, of however many Applications. Only verified hooks count: others use up nothing of a
// namespace. A refused hook delays no later one.
type namespaceLimit struct {
	mu sync.Mutex
	// limiters of the namespaces that sent hooks within the last seconds.
	limiters map[string]*rate.Limiter
}

func newNamespaceLimit() *namespaceLimit {
	return &namespaceLimit{limiters: map[string]*rate.Limiter{}}
}

// allowHook reports whether a hook of a namespace is recorded now.
func (l *namespaceLimit) allowHook(namespace string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.limiters, func(_ string, idle *rate.Limiter) bool { return idle.TokensAt(now) >= namespaceBurst })
	limiter, ok := l.limiters[namespace]
	if !ok {
		limiter = rate.NewLimiter(namespaceRate, namespaceBurst)
		l.limiters[namespace] = limiter
	}
	return limiter.AllowN(now, 1)
}
