package hooks

import (
	"hash/maphash"
	"maps"
	"net"
	"net/netip"
	"slices"
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

	// rates is how many rates are kept. Senders with the same rate share its hooks: the number of rates does not grow with the names that are
	// sent.
	rates = 4096

	// maxAtOnce is how many hooks are read at once, and maxOfNetwork how many of them of one network. No body is kept, so that many are little memory.
	maxAtOnce    = 256
	maxOfNetwork = 64

	// maxConnections is how many connections are open at once, and maxConnectionsOfNetwork how many of them of one network. Each takes some KiB, also while
	// nothing is sent.
	maxConnections          = 1024
	maxConnectionsOfNetwork = 256

	// slowRead is how long a hook is read, or a connection is open, before its place may be given to another one.
	slowRead = 2 * time.Second

	// networkBits is the prefix of an IPv6 address that one sender has: it may send from each address of its network.
	networkBits = 64
)

// networkOfAddress returns the network that a connection comes from: an IPv4 address, or the network of an IPv6 address.
func networkOfAddress(remote string) string {
	host, _, _ := net.SplitHostPort(remote)
	a, err := netip.ParseAddr(host)
	if err != nil || a.Unmap().Is4() {
		return a.Unmap().String()
	}
	network, _ := a.WithZone("").Prefix(networkBits) // An IPv6 address has so many bits.
	return network.String()
}

// A sender is a network that sends hooks of one Application. A sender that cannot sign hooks uses up the rate of its own network, and not the
// rate of the Git server. Behind a proxy that hides the address all senders of an Application share its rate.
type sender struct {
	application types.NamespacedName
	network     string
}

// readPlaces are the places of the hooks that are read at once, or of connections. Where none is free, the slowest gives its place to the next one: connections
// that send nothing keep no other hook out.
type readPlaces struct {
	// atOnce is how many places there are, and ofNetwork how many of them one network has.
	atOnce, ofNetwork int

	mu sync.Mutex
	// taken are the places in the order in which they were taken.
	taken []*readPlace
}

// newReadPlaces returns the places of hooks that are read.
func newReadPlaces() *readPlaces { return &readPlaces{atOnce: maxAtOnce, ofNetwork: maxOfNetwork} }

// newConnectionPlaces returns the places of connections.
func newConnectionPlaces() *readPlaces {
	return &readPlaces{atOnce: maxConnections, ofNetwork: maxConnectionsOfNetwork}
}

// A readPlace is the place of one hook.
type readPlace struct {
	network string
	takenAt time.Time
	// giveUp ends the reading of the hook.
	giveUp func()
}

// takeReadPlace takes a place for a hook of a network. It returns nil if none is free, and each hook of the network, or of all networks, is read for a short time.
func (p *readPlaces) takeReadPlace(network string, now time.Time, giveUp func()) *readPlace {
	p.mu.Lock()
	defer p.mu.Unlock()
	isOfNetwork := func(occupied *readPlace) bool { return occupied.network == network }
	if p.countPlaces(isOfNetwork) >= p.ofNetwork && !p.endSlowestHook(now, isOfNetwork) {
		return nil
	}
	if len(p.taken) >= p.atOnce && !p.endSlowestHook(now, func(*readPlace) bool { return true }) {
		return nil
	}
	place := &readPlace{network: network, takenAt: now, giveUp: giveUp}
	p.taken = append(p.taken, place)
	return place
}

func (p *readPlaces) countPlaces(match func(*readPlace) bool) int {
	n := 0
	for _, place := range p.taken {
		if match(place) {
			n++
		}
	}
	return n
}

// endSlowestHook ends the slowest of the hooks that match, and frees its place. It returns false if none is slow.
func (p *readPlaces) endSlowestHook(now time.Time, match func(*readPlace) bool) bool {
	i := slices.IndexFunc(p.taken, match)
	if i < 0 || now.Sub(p.taken[i].takenAt) < slowRead {
		return false
	}
	p.taken[i].giveUp()
	p.taken = slices.Delete(p.taken, i, i+1)
	return true
}

// freeReadPlace gives a place back, unless another hook has it by now.
func (p *readPlaces) freeReadPlace(place *readPlace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.taken, place); i >= 0 {
		p.taken = slices.Delete(p.taken, i, i+1)
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

// tryAllowHook reports whether a hook is verified now.
func (l *rateLimit) tryAllowHook(hookSender sender, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	busyUntil := &l.until[maphash.Comparable(l.seed, hookSender)%rates]
	if busyUntil.Before(now) {
		*busyUntil = now
	}
	if busyUntil.Sub(now) > (hookBurst-1)*hookSpacing {
		return false
	}
	*busyUntil = busyUntil.Add(hookSpacing)
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

// tryAllowHook reports whether a hook of a namespace is recorded now.
func (l *namespaceLimit) tryAllowHook(namespace string, now time.Time) bool {
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
