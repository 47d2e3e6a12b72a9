package pack

import (
	"bytes"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/objects"
)

func TestPack(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<13)
	cases := map[string]struct {
		reason   string
		from, to []byte
	}{
		"Insert":  {reason: "A delta adds bytes in the middle.", from: []byte("one three"), to: []byte("one two three")},
		"Remove":  {reason: "A delta leaves out bytes in the middle.", from: []byte("one two three"), to: []byte("one three")},
		"Begin":   {reason: "A delta adds bytes at the beginning.", from: []byte("two"), to: []byte("one two")},
		"End":     {reason: "A delta adds bytes at the end.", from: []byte("one"), to: []byte("one two")},
		"Repeat":  {reason: "The common head and tail of a delta do not overlap.", from: []byte("aaaa"), to: []byte("aaaaaa")},
		"Other":   {reason: "A delta between contents without common bytes adds all of them.", from: []byte("abc"), to: bytes.Repeat([]byte("x"), 1000)},
		"Empty":   {reason: "A delta may make an empty object.", from: []byte("abc"), to: nil},
		"Nothing": {reason: "A delta may have an empty base.", from: nil, to: []byte("abc")},
		"Long":    {reason: "Sizes and offsets may take several bytes.", from: long, to: append(append(bytes.Clone(long[:70_000]), "new"...), long[70_000:]...)},
		"Power":   {reason: "Sizes and offsets may have bytes that are zero.", from: long, to: append(bytes.Clone(long[:1<<16]), "end"...)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			source, target := objects.NewObject(plumbing.TreeObject, tc.from), objects.NewObject(plumbing.TreeObject, tc.to)
			target.Base = source.ID
			sizes := []int{}
			for _, deltas := range []bool{true, false} {
				data, err := Encode([]objects.Object{source, target, source}, deltas)
				if err != nil {
					t.Fatal(err)
				}
				got, err := unpackAll(t, data)
				if err != nil || len(got) != 2 || !bytes.Equal(got[target.ID].Data, tc.to) || !bytes.Equal(got[source.ID].Data, tc.from) {
					t.Errorf("\n%s\nunpack(): %d objects, %v", tc.reason, len(got), err)
				}
				sizes = append(sizes, len(data))
			}
			if len(tc.to) > 1<<17 && sizes[0]+100 > sizes[1] {
				t.Errorf("\nA small difference is small\nEncode(): %v bytes", sizes)
			}
		})
	}
}

// unpackAll scans and unpacks a pack.
func unpackAll(t *testing.T, data []byte) (map[plumbing.Hash]objects.Object, error) {
	t.Helper()
	p, _, err := Scan(t.Context(), bytes.NewReader(data), 80<<20)
	if err != nil {
		return nil, err
	}
	return p.Unpack(t.Context())
}
