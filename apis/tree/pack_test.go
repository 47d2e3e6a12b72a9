package tree

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPack packs files, some of which are in the cache.
func TestPack(t *testing.T) {
	p := NewPacker(1 << 20)
	a, b := Files{"a": []byte("x"), "b": []byte("y")}, Files{"a": []byte("xb"), "c": []byte("y")}
	for range 2 {
		for _, files := range []Files{a, b} {
			got, err := p.Pack(files)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := Decode(got.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(files, decoded); diff != "" || got.ID != ID(files) {
				t.Errorf("\nA packed tree has the files, and their ID.\nPack(...): %s: -want, +got:\n%s", got.ID, diff)
			}
		}
	}
	large := Files{"a": []byte(strings.Repeat("x", MaxBytes+1))}
	if _, err := p.Pack(large); err == nil {
		t.Error("\nFiles that cannot travel are not packed.\nPack(...): no error")
	}
}
