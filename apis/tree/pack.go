package tree

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/intentplane/intentplane/apis/memo"
)

// A Packed tree is as it travels.
type Packed struct {
	// ID that the tree has in git.
	ID string

	// Encoded files.
	Encoded []byte
}

// A Packer packs trees. Compressing takes longer than all else that is done for a tree that was rendered before, so a Packer
// remembers. It may be used by several goroutines.
type Packer struct {
	packed *memo.Memo[Packed]
}

// NewPacker returns a Packer that remembers up to about maxBytes.
func NewPacker(maxBytes int) *Packer {
	return &Packer{packed: memo.New[Packed](maxBytes)}
}

// Pack encodes files. It returns an error, as Encode does, for files that cannot travel.
func (p *Packer) Pack(f Files) (Packed, error) {
	k := packCacheKey(f)
	if packed, ok := p.packed.Get(k); ok {
		return packed, nil
	}
	b, err := Encode(f)
	if err != nil {
		return Packed{}, err
	}
	out := Packed{ID: ID(f), Encoded: b}
	p.packed.Put(k, out, len(b))
	return out, nil
}

// packCacheKey separates each part from the next one by its length.
func packCacheKey(f Files) memo.Key {
	h := sha256.New()
	for _, name := range f.Names() {
		for _, part := range [][]byte{[]byte(name), f[name]} {
			// A hash never fails.
			_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			_, _ = h.Write(part)
		}
	}
	return memo.Key(h.Sum(nil))
}
