// Package pack encodes and decodes the packs in which Git servers send and take objects. A hostile pack costs no more than its limits.
package pack

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // It is the checksum of Git's format, and protects nothing.
	"encoding/binary"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/objects"
)

const (
	packVersion = 2

	// A delta copies at most so many bytes in one step, and adds at most so many.
	maxCopy = 1<<24 - 1
	maxAdd  = 127
)

// A packer writes objects as Git sends them. A tree that replaces another tree
// of the same pack is written as their difference: in a directory of a thousand
// claims, each delivery changes one line of a thousand.
type packer struct {
	out    bytes.Buffer
	zip    *zlib.Writer
	deltas bool
	at     map[plumbing.Hash]int
	data   map[plumbing.Hash][]byte
}

// Encode returns a pack of the objects, each of which is there once. Deltas
// are for servers that know them.
func Encode(all []objects.Object, deltas bool) ([]byte, error) {
	p := &packer{deltas: deltas, at: map[plumbing.Hash]int{}, data: map[plumbing.Hash][]byte{}}
	var err error
	// It is read once, on the other end of the line.
	if p.zip, err = zlib.NewWriterLevel(&p.out, zlib.BestSpeed); err != nil {
		return nil, errors.Wrap(err, "cannot make compressor")
	}
	unique := []objects.Object{}
	for _, o := range all {
		if _, done := p.data[o.ID]; !done {
			p.data[o.ID] = o.Data
			unique = append(unique, o)
		}
	}
	p.out.WriteString("PACK")
	p.writeUint32(packVersion)
	p.writeUint32(len(unique))
	for _, o := range unique {
		if err := p.writeObject(o); err != nil {
			return nil, errors.Wrapf(err, "cannot write object %s", o.ID)
		}
	}
	sum := sha1.Sum(p.out.Bytes()) //nolint:gosec // As above.
	p.out.Write(sum[:])
	return p.out.Bytes(), nil
}

func (p *packer) writeUint32(n int) {
	p.out.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) //nolint:gosec // No pack of ours has so many.
}

func (p *packer) writeObject(o objects.Object) error {
	offset := p.out.Len()
	base, isKnown := p.at[o.Base]
	p.at[o.ID] = offset
	if !p.deltas || !isKnown || o.Kind != plumbing.TreeObject {
		p.writeHeader(o.Kind, len(o.Data))
		return p.writeCompressed(o.Data)
	}
	delta := encodeDelta(p.data[o.Base], o.Data)
	p.writeHeader(plumbing.OFSDeltaObject, len(delta))
	p.writeBaseOffset(offset - base)
	return p.writeCompressed(delta)
}

// writeHeader is the kind and the size: four bits of it in the first byte, seven in
// each later byte.
func (p *packer) writeHeader(kind plumbing.ObjectType, size int) {
	b := byte(kind)<<4 | byte(size&0x0f) //nolint:gosec // Kinds are small numbers.
	for size >>= 4; size > 0; size >>= 7 {
		p.out.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	p.out.WriteByte(b)
}

// writeBaseOffset says how far back the base is, the highest bits first.
func (p *packer) writeBaseOffset(n int) {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	p.out.Write(b)
}

func (p *packer) writeCompressed(data []byte) error {
	p.zip.Reset(&p.out)
	if _, err := p.zip.Write(data); err != nil {
		return err
	}
	return p.zip.Close()
}

// encodeDelta returns the delta between two objects that begin and end alike.
func encodeDelta(source, target []byte) []byte {
	head := 0
	for head < min(len(source), len(target)) && source[head] == target[head] {
		head++
	}
	tail := 0
	for tail < min(len(source), len(target))-head && source[len(source)-1-tail] == target[len(target)-1-tail] {
		tail++
	}
	out := binary.AppendUvarint(nil, uint64(len(source)))
	out = binary.AppendUvarint(out, uint64(len(target)))
	out = appendCopySteps(out, 0, head)
	for rest := target[head : len(target)-tail]; len(rest) > 0; {
		n := min(len(rest), maxAdd)
		out = append(append(out, byte(n)), rest[:n]...) //nolint:gosec // At most 127.
		rest = rest[n:]
	}
	return appendCopySteps(out, len(source)-tail, tail)
}

// appendCopySteps appends copy instructions: a byte of flags, and the bytes of
// offset and size that are not zero.
func appendCopySteps(out []byte, offset, size int) []byte {
	for size > 0 {
		n := min(size, maxCopy)
		op, args := byte(0x80), []byte{}
		for i := range 4 {
			if b := byte(offset >> (8 * i)); b != 0 { //nolint:gosec // One byte of it.
				op, args = op|1<<i, append(args, b)
			}
		}
		for i := range 3 {
			if b := byte(n >> (8 * i)); b != 0 { //nolint:gosec // One byte of it.
				op, args = op|0x10<<i, append(args, b)
			}
		}
		out = append(append(out, op), args...)
		offset, size = offset+n, size-n
	}
	return out
}
