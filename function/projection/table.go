package projection

import (
	"slices"
)

// MaxTransitions is the number of transitions in a status.
const MaxTransitions = 20

// A Table is the legal changes of a phase, as data. Other changes are never written.
type Table[P ~string] struct {
	// Start is the first phase. A change to it is legal from every phase, since an object may be recreated.
	Start P

	// Failed is the phase of a failure. Along takes the direct change to it where that is legal.
	Failed P

	// Next phases of each phase. That of an empty phase is Start.
	Next map[P][]P
}

// Legal reports whether a change of the phase may be written.
func (t Table[P]) Legal(source, target P) bool {
	return target == t.Start || slices.Contains(t.Next[source], target)
}

// Along returns the rest of a route behind a phase, or the whole route when it starts again.
func (t Table[P]) Along(from P, route []P, restart bool) []P {
	if restart {
		return route
	}
	if from == route[len(route)-1] {
		return nil
	}
	if i := slices.Index(route, from); i >= 0 {
		return route[i+1:]
	}
	// The phase may be beyond the phase in which such failures are found.
	if i := slices.Index(route, t.Failed); i >= 0 && slices.Contains(t.Next[from], t.Failed) {
		return route[i:]
	}
	return route
}

// Shortest returns the phases on the shortest path between two, the second phase last. Without a path in the table it starts again.
func (t Table[P]) Shortest(source, target P, restart bool) []P {
	if source == target && !restart {
		return nil
	}
	if !restart {
		if way := t.searchShortestPath(source, target); way != nil {
			return way
		}
	}
	if target == t.Start {
		return []P{t.Start}
	}
	return append([]P{t.Start}, t.searchShortestPath(t.Start, target)...)
}

// searchShortestPath searches the table breadth first, in its order, and returns the shortest path, or nil.
func (t Table[P]) searchShortestPath(source, target P) []P {
	ways, visited := [][]P{{source}}, map[P]bool{source: true}
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		for _, next := range t.Next[way[len(way)-1]] {
			if visited[next] {
				continue
			}
			visited[next] = true
			longer := append(slices.Clone(way), next)
			if next == target {
				return longer[1:]
			}
			ways = append(ways, longer)
		}
	}
	return nil
}

// Log adds an entry for each phase on the route to the transitions of a status, each with the index after the previous entry, and
// drops the oldest entries.
func Log[P ~string, T any](last []T, index func(T) int64, source P, through []P, entry func(index int64, from, target P) T) []T {
	log, next := slices.Clone(last), int64(0)
	if len(log) > 0 {
		next = index(log[len(log)-1]) + 1
	}
	for i, target := range through {
		log = append(log, entry(next+int64(i), source, target))
		source = target
	}
	return log[max(0, len(log)-MaxTransitions):]
}
