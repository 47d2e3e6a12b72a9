package objects

import (
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

func TestLayerSharesObjects(t *testing.T) {
	var l *layer[int]
	depth := func() int {
		n := 0
		for current := l; current != nil; current = current.below {
			n++
		}
		return n
	}
	for i := range 1000 {
		l = l.With(map[plumbing.Hash]int{plumbing.ComputeHash(plumbing.BlobObject, fmt.Append(nil, i)): i})
	}
	for i := range 1000 {
		got, ok := l.Get(plumbing.ComputeHash(plumbing.BlobObject, fmt.Append(nil, i)))
		if diff := cmp.Diff(i, got); diff != "" || !ok {
			t.Fatalf("\nAn added value is in the layer\nget(): -want, +got:\n%s", diff)
		}
	}
	if depth() > 10 || l.Len() != 1000 {
		t.Errorf("\nThere are never many layers\ndepth %d, len %d", depth(), l.Len())
	}
}
