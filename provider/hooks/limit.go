package hooks

import (
	"hash/maphash"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// hookSpacing is how often hooks of one Application are verified for long, and hookBurst how many at once.
	hookSpacing = 200 * time.Millisecond
	hookBurst   = 20

	// rates is how many rates are kept. Applications that share one share its hooks: what is kept does not grow with the names that are sent.
	rates = 4096
)

// A rateLimit bounds how often hooks are verified.
type rateLimit struct {
	seed maphash.Seed

	mu sync.Mutex
	// until is when the hooks that were let through would be over, one in each spacing.
	until [rates]time.Time
}

func newRateLimit() *rateLimit { return &rateLimit{seed: maphash.MakeSeed()} }

// allowHook reports whether a hook is verified now.
func (l *rateLimit) allowHook(key types.NamespacedName, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := &l.until[maphash.Comparable(l.seed, key)%rates]
	if until.Before(now) {
		*until = now
	}
	if until.Sub(now) > (hookBurst-1)*hookSpacing {
		return false
	}
	*until = until.Add(hookSpacing)
	return true
}
