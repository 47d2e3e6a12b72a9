package memory

import (
	"context"
	"slices"
	"sync"
	"time"
)

// limits of a pool, in bytes.
type limits struct {
	// all is the limit of all namespaces together, and namespace the limit of one.
	all, namespace int64
	// guaranteed is the memory that a namespace has although the pool is full.
	guaranteed int64
}

// A pool is memory that namespaces share. It is safe for concurrent use.
type pool struct {
	limits limits
	// collect collects garbage unless that was done since a number of collections, and returns the new number. A reservation that waits calls it.
	collect func(since uint64) uint64

	mu   sync.Mutex
	used int64
	// by has the used bytes of each namespace that uses any.
	by      map[string]int64
	waiting []*reservation
}

// A reservation waits until room is given to it.
type reservation struct {
	namespace string
	bytes     int64
	given     chan struct{}
}

func newPool(l limits, collect func(since uint64) uint64) *pool {
	return &pool{limits: l, collect: collect, by: map[string]int64{}}
}

func (p *pool) reserve(ctx context.Context, namespace string, bytes int64) (func(), error) {
	r := &reservation{namespace: namespace, bytes: bytes, given: make(chan struct{})}
	p.mu.Lock()
	p.waiting = append(p.waiting, r)
	p.giveRoom()
	p.mu.Unlock()
	wait := collectInterval
	for collections := countCollections(); ; collections = p.collect(collections) {
		select {
		case <-r.given:
			return p.releaseOf(r), nil
		case <-ctx.Done():
			if p.giveUp(r) {
				return nil, ctx.Err()
			}
			return p.releaseOf(r), nil
		case <-time.After(wait):
			wait = min(2*wait, maxCollectInterval)
		}
	}
}

func (p *pool) tryReserve(namespace string, bytes int64) (func(), bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &reservation{namespace: namespace, bytes: bytes}
	if !p.fits(r) {
		return nil, false
	}
	p.add(namespace, bytes)
	return p.releaseOf(r), true
}

func (p *pool) releaseOf(r *reservation) func() {
	return sync.OnceFunc(func() { p.hold(r.namespace, -r.bytes) })
}

// giveUp ends the wait of a reservation. It returns false if room was given to it at the same time.
func (p *pool) giveUp(r *reservation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.waiting, r)
	if i < 0 {
		return false
	}
	p.waiting = slices.Delete(p.waiting, i, i+1)
	return true
}

func (p *pool) hold(namespace string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(namespace, bytes)
	p.giveRoom()
}

func (p *pool) usedBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// add counts bytes, with the lock held.
func (p *pool) add(namespace string, bytes int64) {
	p.used += bytes
	if p.by[namespace] += bytes; p.by[namespace] == 0 {
		delete(p.by, namespace)
	}
}

// fits reports whether a namespace has room for a reservation, with the lock held.
func (p *pool) fits(r *reservation) bool {
	used := p.by[r.namespace] + r.bytes
	return used <= p.limits.namespace && p.used+r.bytes <= p.limits.all || used <= p.limits.guaranteed
}

// giveRoom gives room to each reservation that fits, the namespace that uses the least first, with the lock held.
func (p *pool) giveRoom() {
	for {
		next := -1
		for i, r := range p.waiting {
			if p.fits(r) && (next < 0 || p.by[r.namespace] < p.by[p.waiting[next].namespace]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		r := p.waiting[next]
		p.waiting = slices.Delete(p.waiting, next, next+1)
		p.add(r.namespace, r.bytes)
		close(r.given)
	}
}
