package pack

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A deltaHeader keeps the first bytes of a delta, which say how large the base
// and the result are.
type deltaHeader struct {
	bytes.Buffer
}

// Write keeps the first bytes, which may belong to the header.
func (d *deltaHeader) Write(p []byte) (int, error) {
	const limit = 20 // Two numbers of at most ten bytes.
	if room := limit - d.Len(); room > 0 {
		d.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// decodeResultSize returns the size of the result. It is negative for a size that is malformed.
func (d *deltaHeader) decodeResultSize() int64 {
	_, rest, ok := cutVarintPrefix(d.Bytes())
	if !ok {
		return -1
	}
	size, _, ok := cutVarintPrefix(rest)
	if !ok {
		return -1
	}
	return size
}

// cutVarintPrefix returns the number that bytes begin with, and the rest.
func cutVarintPrefix(b []byte) (int64, []byte, bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > math.MaxInt64 {
		return 0, nil, false
	}
	return int64(n), b[size:], true
}

var errDelta = errors.New("cannot apply delta: it is malformed")

// applyDeltaTo returns the object that a delta makes of a base. Its size must equal the size in the delta.
func applyDeltaTo(from, delta []byte, size int64) ([]byte, error) {
	sourceSize, delta, ok := cutVarintPrefix(delta)
	if !ok || sourceSize != int64(len(from)) {
		return nil, errDelta
	}
	targetSize, delta, ok := cutVarintPrefix(delta)
	if !ok || targetSize != size {
		return nil, errDelta
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		var piece []byte
		if piece, delta, ok = nextDeltaPiece(from, delta); !ok || int64(len(out)+len(piece)) > size {
			return nil, errDelta
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, errDelta
	}
	return out, nil
}

// nextDeltaPiece returns the bytes that the first step of a delta adds, and the steps after it.
func nextDeltaPiece(from, delta []byte) (piece, rest []byte, ok bool) {
	op := delta[0]
	if op&0x80 == 0 {
		n := int(op)
		if n == 0 || len(delta) <= n {
			return nil, nil, false
		}
		return delta[1 : 1+n], delta[1+n:], true
	}
	offset, size, delta := 0, 0, delta[1:]
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		if i < 4 {
			offset |= int(delta[0]) << (8 * i)
		}
		if i >= 4 {
			size |= int(delta[0]) << (8 * (i - 4))
		}
		delta = delta[1:]
	}
	if size == 0 {
		size = 1 << 16
	}
	if offset+size > len(from) {
		return nil, nil, false
	}
	return from[offset : offset+size], delta, true
}
