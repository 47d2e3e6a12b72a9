package budget

import (
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// chunkBytes is the size of one part of a chunkBuffer.
const chunkBytes = 64 << 10

// A chunkBuffer has bytes that were read, in parts of one size: a buffer in one piece takes twice its size while it grows. They can be read again
// from any place.
type chunkBuffer struct {
	parts [][]byte
	size  int64
	at    int64
}

// fillFromReader appends all that a reader has.
func (c *chunkBuffer) fillFromReader(r io.Reader) error {
	for {
		if c.size == int64(len(c.parts))*chunkBytes {
			c.parts = append(c.parts, make([]byte, chunkBytes))
		}
		n, err := io.ReadFull(r, c.parts[len(c.parts)-1][c.size%chunkBytes:])
		c.size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Read reads on from the end of the last Read.
func (c *chunkBuffer) Read(b []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	n := copy(b, c.parts[c.at/chunkBytes][c.at%chunkBytes:min(chunkBytes, c.at%chunkBytes+c.size-c.at)])
	c.at += int64(n)
	return n, nil
}

// Seek goes to a place. It returns an error if that is before the first byte.
func (c *chunkBuffer) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("cannot go to a place before the first byte")
	}
	c.at = offset
	return offset, nil
}
