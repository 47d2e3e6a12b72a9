package objects

import (
	"maps"

	"github.com/go-git/go-git/v5/plumbing"
)

// A layer is a set of values by id, on top of another layer. No layer is written after it was made, so that snapshots share common layers: the cost of an
// addition depends on the added values only. Nil is empty.
type layer[V any] struct {
	own   map[plumbing.Hash]V
	below *layer[V]
	size  int
}

// Get returns a thing by its id, and whether the layer or one below it has it.
func (l *layer[V]) Get(id plumbing.Hash) (v V, ok bool) {
	for ; l != nil; l = l.below {
		if v, ok = l.own[id]; ok {
			return v, true
		}
	}
	return v, false
}

// Len is the upper bound of the number of values: a value that was added twice counts twice.
func (l *layer[V]) Len() int {
	if l == nil {
		return 0
	}
	return l.size
}

// With returns a layer with more things, whose map it takes over. Small layers are melted together, so that there are never many
// to look through.
func (l *layer[V]) With(added map[plumbing.Hash]V) *layer[V] {
	if len(added) == 0 {
		return l
	}
	for l != nil && len(l.own) <= 2*len(added) {
		maps.Copy(added, l.own)
		l = l.below
	}
	return &layer[V]{own: added, below: l, size: len(added) + l.Len()}
}
