package pack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
	"github.com/intentplane/intentplane/provider/git/pack/packtest"
)

// counted counts how often a pack is gone through from another place.
type counted struct {
	*bytes.Reader

	seeks int
}

func (c *counted) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		c.seeks++
	}
	return c.Reader.Seek(offset, whence)
}

// maxBytes is the client's memory limit for the objects of a pack.
const maxBytes = 80 << 20

func TestHostilePack(t *testing.T) {
	cases := map[string]struct {
		reason string
		fill   func(h *packtest.Pack)
		limit  int64
		class  failure.Class
		want   int
	}{
		"TinyObjects": {
			reason: "Objects of four bytes count with their size in memory.",
			fill:   func(h *packtest.Pack) { h.Tiny(10_000) }, limit: 1 << 20, class: failure.ClassTooLarge,
		},
		"TinyDeltas": {
			reason: "Deltas count with their size in memory.",
			fill: func(h *packtest.Pack) {
				offset := h.Whole(plumbing.BlobObject, []byte("x"))
				for n := range 10_000 {
					h.DeltaAfter(offset, packtest.Delta(1, 0, fmt.Append(nil, n)))
				}
			}, limit: 1 << 20, class: failure.ClassTooLarge,
		},
		"TooManyObjects": {
			reason: "A pack has no more than so many objects, whatever the limit of their bytes.",
			fill:   func(h *packtest.Pack) { h.Count = maxObjects + 1 }, limit: 1 << 40, class: failure.ClassTooLarge,
		},
		"LongChain": {
			reason: "A chain of deltas that is longer than Git makes any is read, each object once.",
			fill:   func(h *packtest.Pack) { h.Chain(5_000, 1_000, false) }, limit: maxBytes, want: 5_001,
		},
		"LongChainBackwards": {
			reason: "A chain whose links come in the wrong order is read, each object once.",
			fill:   func(h *packtest.Pack) { h.Chain(5_000, 1_000, true) }, limit: maxBytes, want: 5_001,
		},
		"ChainOfLargeObjects": {
			reason: "A chain counts with the size of each object that it makes.",
			fill:   func(h *packtest.Pack) { h.Chain(2_000, 64<<10, false) }, limit: maxBytes, class: failure.ClassTooLarge,
		},
		"NoBase": {
			reason: "A delta whose base is not there is an error.",
			fill: func(h *packtest.Pack) {
				h.DeltaOf(plumbing.NewHash(strings.Repeat("a", 40)), packtest.Delta(1, 0, []byte("b")))
			},
			limit: maxBytes, class: failure.ClassTransient,
		},
		"DeltaLies": {
			reason: "A delta whose result is larger than its header says is an error.",
			fill: func(h *packtest.Pack) {
				h.DeltaOf(objects.NewObject(plumbing.BlobObject, []byte("abc")).ID, append([]byte{3, 1}, packtest.Copy(3)...))
				h.Whole(plumbing.BlobObject, []byte("abc"))
			},
			limit: maxBytes, class: failure.ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := packtest.New(t)
			tc.fill(h)
			data := &counted{Reader: bytes.NewReader(h.Bytes())}
			got := map[plumbing.Hash]objects.Object{}
			p, _, err := Scan(t.Context(), data, tc.limit)
			if err == nil {
				got, err = p.Unpack(t.Context())
			}
			if err != nil {
				err = BrokenError(err)
			}
			var broken *failure.ClassifiedError
			class := failure.Class("")
			if errors.As(err, &broken) {
				class = broken.Class
			}
			if diff := cmp.Diff(tc.class, class); diff != "" {
				t.Fatalf("\n%s\nUnpack(...): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
			if err == nil && (len(got) != tc.want || data.seeks > h.Count) {
				t.Errorf("\n%s\nUnpack(...): want %d objects, got %d, and went to another place %d times", tc.reason, tc.want, len(got), data.seeks)
			}
		})
	}
}

func TestUnpackEndsWithContext(t *testing.T) {
	h := packtest.New(t)
	h.Tiny(10)
	data := bytes.NewReader(h.Bytes())
	p, _, err := Scan(t.Context(), data, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Unpack(ended); err == nil {
		t.Error("\nA pack is not decoded once its context ended.\nUnpack(...): no error")
	}
	if _, _, err := Scan(ended, bytes.NewReader(h.Bytes()), maxBytes); err == nil {
		t.Error("\nA pack is not scanned once its context ended.\nScan(...): no error")
	}
}
