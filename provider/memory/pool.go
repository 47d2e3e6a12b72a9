package memory

import (
	"context"
	"sync"
	"time"

	"github.com/intentplane/intentplane/provider/shares"
)

// limits of a pool, in bytes.
type limits struct {
	// namespace is the limit of one namespace.
	namespace int64
	// guaranteed is the memory that each namespace has for itself, and shared the limit of all memory beyond it.
	guaranteed, shared int64
	// large is the memory of a large answer, of which there is one at a time. While a namespace reads or awaits one, the other limits leave room for it.
	large int64
}

// A pool is memory that namespaces share. It is safe for concurrent use.
//
// Namespaces take turns, and the reservations of a namespace get room in their order: no number of small reservations delays a larger one for ever. A
// reservation that waits holds nothing.
type pool struct {
	limits limits
	// collect collects garbage unless that was done since a number of collections, and returns the new number. A reservation that waits calls it.
	collect func(since uint64) uint64

	mu sync.Mutex
	// by has the used bytes of each namespace that uses any, without large answers. Shared are those beyond the guaranteed memory of each.
	by     map[string]int64
	shared int64
	// waiting reservations, and large reservations that wait or have room.
	waiting, large *shares.Queue[*reservation]
}

// A reservation waits until room is given to it.
type reservation struct {
	namespace string
	bytes     int64
	isLarge   bool
	given     chan struct{}
}

func (r *reservation) namespacePlace() shares.Place { return shares.Place{Namespace: r.namespace} }

func newReservation(namespace string, bytes int64) *reservation {
	return &reservation{namespace: namespace, bytes: bytes, given: make(chan struct{})}
}

func newLargeReservation(namespace string) *reservation {
	return &reservation{namespace: namespace, isLarge: true, given: make(chan struct{})}
}

func newPool(l limits, collect func(since uint64) uint64) *pool {
	return &pool{
		limits: l, collect: collect, by: map[string]int64{},
		waiting: shares.NewQueue[*reservation](shares.Limits{}), large: shares.NewQueue[*reservation](shares.Limits{PerHost: 1}),
	}
}

// reserveMemory waits until the reservation has room. It returns the function that releases it, or the error of the context if that ends before: then a large
// reservation leaves its turn to the next one of its namespace.
func (p *pool) reserveMemory(ctx context.Context, r *reservation) (func(), error) {
	p.mu.Lock()
	p.addReservation(r)
	p.mu.Unlock()
	wait := collectInterval
	for collections := countCollections(); ; collections = p.collect(collections) {
		select {
		case <-r.given:
			return p.newReleaseFunc(r), nil
		case <-ctx.Done():
			if p.cancelReservation(r) {
				return nil, ctx.Err()
			}
			return p.newReleaseFunc(r), nil
		case <-time.After(wait):
			wait = min(2*wait, maxCollectInterval)
		}
	}
}

// tryReserveMemory reserves room without a wait. A large reservation without room leaves its turn to the next one of its namespace.
func (p *pool) tryReserveMemory(r *reservation) (func(), bool) {
	p.mu.Lock()
	p.addReservation(r)
	p.mu.Unlock()
	if p.cancelReservation(r) {
		return nil, false
	}
	return p.newReleaseFunc(r), true
}

// addReservation lets a reservation wait, and gives it room if there is some, with the lock held.
func (p *pool) addReservation(r *reservation) {
	p.reservationQueue(r).Add(r, "", r.namespace)
	p.admitReservations()
}

func (p *pool) reservationQueue(r *reservation) *shares.Queue[*reservation] {
	if r.isLarge {
		return p.large
	}
	return p.waiting
}

// cancelReservation ends the wait of a reservation. It returns false if it has room.
func (p *pool) cancelReservation(r *reservation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-r.given:
		return false
	default:
	}
	p.reservationQueue(r).GiveUp(r)
	p.admitReservations()
	return true
}

func (p *pool) newReleaseFunc(r *reservation) func() {
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.isLarge {
			p.large.End(r.namespacePlace())
		}
		p.addUsedBytes(r.namespace, -r.bytes)
		p.admitReservations()
	})
}

func (p *pool) holdMemoryBytes(namespace string, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addUsedBytes(namespace, bytes)
	p.admitReservations()
}

func (p *pool) usedBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	used := int64(p.large.UnderWay()) * p.limits.large
	for _, bytes := range p.by {
		used += bytes
	}
	return used
}

// isLargeWanted reports whether another namespace waits for the memory of large answers, and not for its own.
func (p *pool) isLargeWanted(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.large.IsWanted(shares.Place{Namespace: namespace}, p.hasOwnRoomForLarge)
}

// awaitsLarge reports whether a namespace waits for the memory of a large answer.
func (p *pool) awaitsLarge(namespace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.large.IsAwaitedBy(shares.Place{Namespace: namespace})
}

// addUsedBytes counts bytes, with the lock held.
func (p *pool) addUsedBytes(namespace string, bytes int64) {
	p.shared -= p.beyondGuarantee(p.by[namespace])
	if p.by[namespace] += bytes; p.by[namespace] == 0 {
		delete(p.by, namespace)
	}
	p.shared += p.beyondGuarantee(p.by[namespace])
}

func (p *pool) beyondGuarantee(bytes int64) int64 { return max(0, bytes-p.limits.guaranteed) }

// admitReservations gives room to all reservations that may have it, with the lock held. A namespace whose turn it is and that waits for shared memory lets no other
// namespace take that.
func (p *pool) admitReservations() {
	for r, _, ok := p.large.NextAdmitted(p.hasRoomForLarge); ok; r, _, ok = p.large.NextAdmitted(p.hasRoomForLarge) {
		close(r.given)
	}
	isShared := true
	admits := func(r *reservation) bool {
		if p.by[r.namespace]+r.bytes <= p.limits.guaranteed {
			return true
		}
		isShared = isShared && (!p.hasNamespaceRoom(r) || p.hasSharedRoom(r))
		return isShared && p.hasNamespaceRoom(r)
	}
	for r, place, ok := p.waiting.NextAdmitted(admits); ok; r, place, ok = p.waiting.NextAdmitted(admits) {
		p.waiting.End(place) // The queue has those that wait.
		p.addUsedBytes(r.namespace, r.bytes)
		close(r.given)
	}
}

// hasNamespaceRoom reports whether a reservation fits into the limit of its namespace, beside a large answer that the namespace reads or awaits.
func (p *pool) hasNamespaceRoom(r *reservation) bool {
	limit := p.limits.namespace
	if p.large.IsUsedBy(r.namespacePlace()) {
		limit -= p.limits.large
	}
	return p.by[r.namespace]+r.bytes <= limit
}

// hasSharedRoom reports whether a reservation fits into the memory that all namespaces share, beside a large answer that one of them reads or awaits.
func (p *pool) hasSharedRoom(r *reservation) bool {
	limit := p.limits.shared
	if !p.large.IsEmpty() {
		limit -= p.limits.large
	}
	used := p.by[r.namespace]
	return p.shared-p.beyondGuarantee(used)+p.beyondGuarantee(used+r.bytes) <= limit
}

func (p *pool) hasRoomForLarge(r *reservation) bool {
	return p.hasOwnRoomForLarge(r) && p.shared <= p.limits.shared-p.limits.large
}

func (p *pool) hasOwnRoomForLarge(r *reservation) bool {
	return p.by[r.namespace] <= p.limits.namespace-p.limits.large
}
