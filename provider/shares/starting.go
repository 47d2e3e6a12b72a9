package shares

import "slices"

// A startingLine has the requests that have a place at their host, and wait until the limit of all requests lets them begin. Namespaces take turns in it,
// regardless of the number of their hosts: a namespace with a thousand hosts that hang would otherwise have a thousand turns.
type startingLine[T comparable] struct {
	// turns of the namespaces that wait, and of namespaces whose requests waited in vain.
	turns   []string
	waiting map[string][]placedRequest[T]
}

// A placedRequest is a request with its place.
type placedRequest[T comparable] struct {
	request T
	place   Place
}

func (l *startingLine[T]) addWaitingRequest(p placedRequest[T]) {
	ns := p.place.Namespace
	if !slices.Contains(l.turns, ns) {
		l.turns = append(l.turns, ns)
	}
	l.waiting[ns] = append(l.waiting[ns], p)
}

// takeNextRequest takes the first request of the namespace whose turn it is. It is false if none waits.
func (l *startingLine[T]) takeNextRequest() (placedRequest[T], bool) {
	for i, ns := range l.turns {
		if len(l.waiting[ns]) == 0 {
			continue
		}
		out := l.waiting[ns][0]
		l.turns = slices.Delete(l.turns, i, i+1)
		if len(l.waiting[ns]) > 1 {
			l.turns = append(l.turns, ns)
		}
		l.dropRequestAt(ns, 0)
		return out, true
	}
	return placedRequest[T]{}, false
}

// removeWaiting removes a request, whose namespace keeps its turn as long as others wait, and returns its place. It is false for an unknown request.
func (l *startingLine[T]) removeWaiting(removed T) (Place, bool) {
	for ns, all := range l.waiting {
		i := slices.IndexFunc(all, func(p placedRequest[T]) bool { return p.request == removed })
		if i < 0 {
			continue
		}
		place := all[i].place
		l.dropRequestAt(ns, i)
		return place, true
	}
	return Place{}, false
}

// dropRequestAt drops a request of a namespace, and all turns once none waits, or too many of them are kept.
func (l *startingLine[T]) dropRequestAt(ns string, i int) {
	l.waiting[ns] = slices.Delete(l.waiting[ns], i, i+1)
	if len(l.waiting[ns]) == 0 {
		delete(l.waiting, ns)
	}
	if len(l.waiting) == 0 || len(l.turns) > len(l.waiting)+maxTurns {
		l.turns = slices.DeleteFunc(l.turns, func(turn string) bool { return len(l.waiting[turn]) == 0 })
	}
}
