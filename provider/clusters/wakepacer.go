package clusters

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// wakeInterval is how long after a wake its owner is woken again at the earliest: a cluster in which something changes all the time costs one
// look each second, and not one for each change.
const wakeInterval = time.Second

// A wakePacer spaces out the wakes of each owner. It is safe for concurrent use.
type wakePacer struct {
	mu sync.Mutex
	// woken is when each owner was woken last, or will be.
	woken map[types.NamespacedName]time.Time
	// swept is the time of the last removal of past wakes.
	swept time.Time
}

func newWakePacer() *wakePacer { return &wakePacer{woken: map[types.NamespacedName]time.Time{}} }

// planWake plans the wake of an owner. It returns the delay of the wake, and whether an earlier planned wake replaces it.
func (p *wakePacer) planWake(owner types.NamespacedName, now time.Time) (wait time.Duration, planned bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.woken[owner]
	switch {
	case ok && last.After(now):
		return 0, true
	case ok && now.Sub(last) < wakeInterval:
		p.woken[owner] = last.Add(wakeInterval)
		return last.Add(wakeInterval).Sub(now), false
	}
	p.forgetPastWakes(now)
	p.woken[owner] = now
	return 0, false
}

func (p *wakePacer) forgetPastWakes(now time.Time) {
	if now.Sub(p.swept) < wakeInterval {
		return
	}
	p.swept = now
	maps.DeleteFunc(p.woken, func(_ types.NamespacedName, timestamp time.Time) bool { return now.Sub(timestamp) >= wakeInterval })
}
