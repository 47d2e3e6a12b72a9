package objects

import (
	"maps"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Layer is a set of things by id, on top of another one. No layer is written after it was made, so that snapshots share what
// they have in common: to add something costs what is added, and not what is there. Nil is empty.
type Layer[V any] struct {
	own   map[plumbing.Hash]V
	below *Layer[V]
	size  int
}

func (l *Layer[V]) Get(id plumbing.Hash) (V, bool) {
	for ; l != nil; l = l.below {
		if v, ok := l.own[id]; ok {
			return v, true
		}
	}
	var none V
	return none, false
}

// Len is how many things there are at most: one that was added twice counts twice.
func (l *Layer[V]) Len() int {
	if l == nil {
		return 0
	}
	return l.size
}

// With returns a layer with more things, whose map it takes over. Small layers are melted together, so that there are never many
// to look through.
func (l *Layer[V]) With(added map[plumbing.Hash]V) *Layer[V] {
	if len(added) == 0 {
		return l
	}
	for l != nil && len(l.own) <= 2*len(added) {
		maps.Copy(added, l.own)
		l = l.below
	}
	return &Layer[V]{own: added, below: l, size: len(added) + l.Len()}
}
