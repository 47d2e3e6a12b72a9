package listing

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// bytesPerSecond is how fast the API server sends pages for one namespace, and burstBytes how much may come at once: an API server and its store read more for
	// each page than they send.
	bytesPerSecond, burstBytes = 16 << 20, 128 << 20

	// manyPaces is the number of namespaces from which idle namespaces are dropped.
	manyPaces = 1000
)

// pacer limits how fast pages come for each namespace.
var pacer = &paces{by: map[string]*rate.Limiter{}} //nolint:gochecknoglobals // One limit for the process, as for the pages.

// paces are the limits of namespaces. Administrators have none. They are safe for concurrent use.
type paces struct {
	mu sync.Mutex
	by map[string]*rate.Limiter
}

// countPageBytes counts bytes that were read for a namespace, and returns the delay of its next page. The first page of a list waits for the bytes of earlier lists:
// otherwise lists of one page would have no pace, and the next list of many pages would wait for all of them.
func (p *paces) countPageBytes(namespace string, bytes int64) time.Duration {
	if namespace == "" {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.by) >= manyPaces {
		maps.DeleteFunc(p.by, func(_ string, l *rate.Limiter) bool { return l.Tokens() >= burstBytes })
	}
	l := p.by[namespace]
	if l == nil {
		l = rate.NewLimiter(bytesPerSecond, burstBytes)
		p.by[namespace] = l
	}
	for ; bytes > burstBytes; bytes -= burstBytes {
		l.ReserveN(time.Now(), burstBytes)
	}
	return l.ReserveN(time.Now(), int(bytes)).Delay()
}

// waitForPage waits until the next page of the namespace may come. It returns the error of the context if that ends before.
func (p *paces) waitForPage(ctx context.Context, namespace string) error {
	timer := time.NewTimer(p.countPageBytes(namespace, 0))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
