// Package packtest writes packs for tests, object by object, as no git command would.
package packtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // Git's checksum of a pack.
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Pack is a pack that is being written. It shares no code with the encoder that it tests.
type Pack struct {
	testing.TB

	// Count is how many objects the pack says that it has.
	Count int

	out bytes.Buffer
	zip *zlib.Writer
}

// New returns a pack without objects.
func New(tb testing.TB) *Pack {
	tb.Helper()
	p := &Pack{TB: tb}
	p.zip = zlib.NewWriter(&p.out)
	p.out.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	return p
}

// Whole adds an object, and returns its place in the pack.
func (p *Pack) Whole(kind plumbing.ObjectType, data []byte) (offset int) {
	p.Helper()
	offset = p.out.Len()
	p.writeHeader(kind, len(data))
	p.writeCompressed(data)
	return offset
}

// DeltaAfter adds a delta of the object at a place of the pack, and returns its own place.
func (p *Pack) DeltaAfter(base int, delta []byte) (offset int) {
	p.Helper()
	offset = p.out.Len()
	p.writeHeader(plumbing.OFSDeltaObject, len(delta))
	p.writeOffset(offset - base)
	p.writeCompressed(delta)
	return offset
}

// DeltaOf adds a delta of an object that is named by its id, and may follow.
func (p *Pack) DeltaOf(base plumbing.Hash, delta []byte) {
	p.Helper()
	p.writeHeader(plumbing.REFDeltaObject, len(delta))
	p.out.Write(base[:])
	p.writeCompressed(delta)
}

// Bytes returns the pack with its number of objects and its checksum.
func (p *Pack) Bytes() []byte {
	b := p.out.Bytes()
	binary.BigEndian.PutUint32(b[8:], uint32(p.Count)) //nolint:gosec // Tests write few objects.
	sum := sha1.Sum(b)                                 //nolint:gosec // Git checks packs by it.
	return append(b, sum[:]...)
}

// Tip adds a commit without files, which a branch can be at, and returns its id.
func (p *Pack) Tip() string {
	p.Helper()
	p.Whole(plumbing.TreeObject, nil)
	tree := plumbing.ComputeHash(plumbing.TreeObject, nil)
	data := []byte("tree " + tree.String() + "\nauthor x <x@example.org> 1 +0000\ncommitter x <x@example.org> 1 +0000\n\nx\n")
	p.Whole(plumbing.CommitObject, data)
	return plumbing.ComputeHash(plumbing.CommitObject, data).String()
}

// Tiny adds objects, each of which has four bytes.
func (p *Pack) Tiny(count int) {
	p.Helper()
	for n := range count {
		p.Whole(plumbing.BlobObject, binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
}

// Chain adds objects of some bytes, each of which is made of the previous object. The last one comes first if it is backwards.
func (p *Pack) Chain(links, size int, backwards bool) {
	p.Helper()
	version := func(n int) []byte { return append(bytes.Repeat([]byte("x"), size), fmt.Sprintf("%08d", n)...) }
	if !backwards {
		offset := p.Whole(plumbing.BlobObject, version(0))
		for n := range links {
			offset = p.DeltaAfter(offset, Delta(size+8, size, fmt.Appendf(nil, "%08d", n+1)))
		}
		return
	}
	for n := links; n > 0; n-- {
		p.DeltaOf(plumbing.ComputeHash(plumbing.BlobObject, version(n-1)), Delta(size+8, size, fmt.Appendf(nil, "%08d", n)))
	}
	p.Whole(plumbing.BlobObject, version(0))
}

// Delta makes of an object of some bytes its first bytes, and at most 127 more.
func Delta(from, keep int, inserted []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(from))              //nolint:gosec // Sizes are not negative.
	out = binary.AppendUvarint(out, uint64(keep+len(inserted))) //nolint:gosec // Sizes are not negative.
	out = append(out, Copy(keep)...)
	if len(inserted) == 0 {
		return out
	}
	return append(append(out, byte(len(inserted))), inserted...) //nolint:gosec // At most 127.
}

// Copy is the step of a delta that copies the first bytes, less than 16 MiB.
func Copy(size int) []byte {
	if size == 0 {
		return nil
	}
	return []byte{0xf0, byte(size), byte(size >> 8), byte(size >> 16)} //nolint:gosec // One byte of it each.
}

// writeHeader writes the kind and the size: four bits of it in the first byte, seven in each one after it.
func (p *Pack) writeHeader(kind plumbing.ObjectType, size int) {
	b := byte(kind)<<4 | byte(size&0x0f) //nolint:gosec // Kinds are small numbers.
	for size >>= 4; size > 0; size >>= 7 {
		p.out.WriteByte(b | 0x80)
		b = byte(size & 0x7f)
	}
	p.out.WriteByte(b)
}

// writeOffset writes how far back the base is, the highest bits first.
func (p *Pack) writeOffset(n int) {
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	p.out.Write(b)
}

func (p *Pack) writeCompressed(data []byte) {
	p.Helper()
	p.Count++
	p.zip.Reset(&p.out)
	if _, err := p.zip.Write(data); err != nil {
		p.Fatal(err)
	}
	if err := p.zip.Close(); err != nil {
		p.Fatal(err)
	}
}
