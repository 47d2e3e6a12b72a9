// Package shares divides shared resources among namespaces: places at servers, and the provider's own memory.
//
// A namespace that asks for much, or whose servers are slow, waits for itself: each server has its turn, at a server each namespace has
// its turn, and no namespace has more than its share.
package shares

import "slices"

// Limits of concurrent requests. Zero means unlimited.
type Limits struct {
	// PerHost is how much one host serves.
	PerHost int

	// PerNamespace is how much one namespace has, at all hosts together.
	PerNamespace int

	// PerNamespaceAtHost is how much one namespace has at one host.
	PerNamespaceAtHost int

	// Together is how much there is in all.
	Together int
}

// maxTurns is how many namespaces may have turns at one host, beyond which a request that is given up leaves none.
const maxTurns = 1000

// A Place is the host and the namespace of a request.
type Place struct {
	// Host that serves the request.
	Host string
	// Namespace that pays for it.
	Namespace string
}

// A Queue holds requests that wait for their hosts, and counts requests under way. Hosts and namespaces without a request are forgotten. It
// is not safe for concurrent use.
type Queue[T comparable] struct {
	limits Limits
	hosts  map[string]*line[T]
	turns  []string
	// placed are the requests that wait, and who wants each.
	placed map[T]request

	// starting are the requests that have a place at their host, and wait to begin.
	starting startingLine[T]

	// under is the number of requests under way, and by the number of places of each namespace.
	under int
	by    map[string]int
}

// A request is wanted by each of some namespaces, and paid for by the first of them that has its turn.
type request struct {
	host       string
	namespaces []string
}

// A line waits for one host.
type line[T comparable] struct {
	// turns of the namespaces that wait, and of namespaces whose requests waited in vain.
	turns   []string
	waiting map[string][]T

	// under is the number of requests under way, and by their number for each namespace.
	under int
	by    map[string]int
}

// NewQueue returns a queue that nothing waits in.
func NewQueue[T comparable](l Limits) *Queue[T] {
	return &Queue[T]{
		limits: l, hosts: map[string]*line[T]{}, placed: map[T]request{}, by: map[string]int{},
		starting: startingLine[T]{waiting: map[string][]placedRequest[T]{}},
	}
}

// Add a request for a host. Each of the namespaces wants it, so it is served when the first of them has its turn.
func (q *Queue[T]) Add(r T, host string, namespaces ...string) {
	hostLine := q.hosts[host]
	if hostLine == nil {
		hostLine = &line[T]{waiting: map[string][]T{}, by: map[string]int{}}
		q.hosts[host] = hostLine
		q.turns = append(q.turns, host)
	}
	q.placed[r] = request{host: host, namespaces: namespaces}
	for _, ns := range namespaces {
		if !slices.Contains(hostLine.turns, ns) {
			hostLine.turns = append(hostLine.turns, ns)
		}
		hostLine.waiting[ns] = append(hostLine.waiting[ns], r)
	}
}

// Next takes the request that may begin now, and returns its place. It is false if there is none.
func (q *Queue[T]) Next() (T, Place, bool) {
	admitAll := func(T) bool { return true }
	if q.limits.Together == 0 {
		return q.NextAdmitted(admitAll)
	}
	for r, place, ok := q.takeHostPlace(admitAll); ok; r, place, ok = q.takeHostPlace(admitAll) {
		q.starting.addWaitingRequest(placedRequest[T]{request: r, place: place})
	}
	if !isBelowLimit(q.under, q.limits.Together) {
		var zero T
		return zero, Place{}, false
	}
	p, ok := q.starting.takeNextRequest()
	if ok {
		q.under++
	}
	return p.request, p.place, ok
}

// NextAdmitted does the same as Next, among the requests that another condition admits, in a queue without a limit of all requests. It asks for the first
// request of each namespace, in the order of their turns: a request that waits for the condition has its later ones behind it.
func (q *Queue[T]) NextAdmitted(admits func(T) bool) (T, Place, bool) {
	r, place, ok := q.takeHostPlace(admits)
	if ok {
		q.under++
	}
	return r, place, ok
}

// takeHostPlace takes the place at its host for the admitted request whose turn it is. It is false if there is none.
func (q *Queue[T]) takeHostPlace(admits func(T) bool) (T, Place, bool) {
	for range q.turns {
		host := q.turns[0]
		q.turns = append(q.turns[1:], host)
		if r, ns, ok := q.nextRequestAtHost(q.hosts[host], admits); ok {
			p := Place{Host: host, Namespace: ns}
			q.by[ns]++
			q.hosts[host].under++
			q.hosts[host].by[ns]++
			q.Drop(r)
			return r, p, true
		}
	}
	var zero T
	return zero, Place{}, false
}

// nextRequestAtHost returns the admitted request of the namespace whose turn it is at a host, among waiting namespaces below their limits. The others keep their
// turns.
func (q *Queue[T]) nextRequestAtHost(l *line[T], admits func(T) bool) (T, string, bool) {
	for i, ns := range l.turns {
		if !isBelowLimit(l.under, q.limits.PerHost) {
			break
		}
		isBelowLimits := isBelowLimit(q.by[ns], q.limits.PerNamespace) && isBelowLimit(l.by[ns], q.limits.PerNamespaceAtHost)
		if len(l.waiting[ns]) > 0 && isBelowLimits && admits(l.waiting[ns][0]) {
			l.turns = append(slices.Delete(l.turns, i, i+1), ns)
			return l.waiting[ns][0], ns, true
		}
	}
	var zero T
	return zero, "", false
}

// isBelowLimit reports whether there is room for one more.
func isBelowLimit(n, limit int) bool { return limit == 0 || n < limit }

// End a request that was under way.
func (q *Queue[T]) End(p Place) {
	q.under--
	q.releasePlace(p)
}

func (q *Queue[T]) releasePlace(p Place) {
	hostLine := q.hosts[p.Host]
	hostLine.under--
	decrementCount(q.by, p.Namespace)
	decrementCount(hostLine.by, p.Namespace)
	q.forgetIdleHost(p.Host)
}

func decrementCount(counts map[string]int, namespace string) {
	if counts[namespace]--; counts[namespace] == 0 {
		delete(counts, namespace)
	}
}

// Drop a request that waits, if it does. A namespace whose last request it was loses its turn.
func (q *Queue[T]) Drop(dropped T) {
	if q.dropStarting(dropped) {
		return
	}
	r, ok := q.placed[dropped]
	if !ok {
		return
	}
	hostLine := q.removeRequest(dropped, r)
	hostLine.turns = slices.DeleteFunc(hostLine.turns, func(ns string) bool { return slices.Contains(r.namespaces, ns) && len(hostLine.waiting[ns]) == 0 })
	q.forgetIdleHost(r.host)
}

// GiveUp drops a request that waited in vain, if it still waits. Its namespaces keep their turns for their next requests, as long as others wait for
// the host or use it.
func (q *Queue[T]) GiveUp(dropped T) {
	if q.dropStarting(dropped) {
		return
	}
	r, ok := q.placed[dropped]
	if !ok {
		return
	}
	if hostLine := q.hosts[r.host]; len(hostLine.turns) > maxTurns {
		q.Drop(dropped)
		return
	}
	q.removeRequest(dropped, r)
	q.forgetIdleHost(r.host)
}

// dropStarting drops a request that has its place and waits to begin. It is false for any other request.
func (q *Queue[T]) dropStarting(dropped T) bool {
	place, ok := q.starting.removeWaiting(dropped)
	if ok {
		q.releasePlace(place)
	}
	return ok
}

func (q *Queue[T]) removeRequest(dropped T, r request) *line[T] {
	delete(q.placed, dropped)
	hostLine := q.hosts[r.host]
	for _, ns := range r.namespaces {
		hostLine.waiting[ns] = slices.DeleteFunc(hostLine.waiting[ns], func(waits T) bool { return waits == dropped })
		if len(hostLine.waiting[ns]) == 0 {
			delete(hostLine.waiting, ns)
		}
	}
	return hostLine
}

// IsWanted reports whether another namespace waits for a host with a first request that counts.
func (q *Queue[T]) IsWanted(p Place, counts func(T) bool) bool {
	hostLine := q.hosts[p.Host]
	if hostLine == nil {
		return false
	}
	for namespace, waiting := range hostLine.waiting {
		if namespace != p.Namespace && counts(waiting[0]) {
			return true
		}
	}
	return false
}

// IsAwaitedBy reports whether a namespace waits for a host.
func (q *Queue[T]) IsAwaitedBy(p Place) bool {
	hostLine := q.hosts[p.Host]
	return hostLine != nil && len(hostLine.waiting[p.Namespace]) > 0
}

// IsUsedBy reports whether a namespace waits for a host, or has a request under way there.
func (q *Queue[T]) IsUsedBy(p Place) bool {
	hostLine := q.hosts[p.Host]
	return q.IsAwaitedBy(p) || hostLine != nil && hostLine.by[p.Namespace] > 0
}

// UnderWay returns the number of requests under way.
func (q *Queue[T]) UnderWay() int { return q.under }

// IsEmpty reports whether nothing waits and nothing is under way.
func (q *Queue[T]) IsEmpty() bool {
	return len(q.hosts)+len(q.turns)+len(q.placed)+len(q.starting.turns)+len(q.by)+q.under == 0
}

// forgetIdleHost forgets a host that nothing waits for.
func (q *Queue[T]) forgetIdleHost(host string) {
	if hostLine := q.hosts[host]; hostLine.under > 0 || len(hostLine.waiting) > 0 {
		return
	}
	delete(q.hosts, host)
	q.turns = slices.DeleteFunc(q.turns, func(turn string) bool { return turn == host })
}
