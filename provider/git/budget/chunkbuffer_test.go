package budget

import (
	"bytes"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChunkBufferReadsWhatWasWritten(t *testing.T) {
	all := bytes.Repeat([]byte("0123456789"), chunkBytes/3)
	cases := map[string]struct {
		reason string
		// parts of all that are read one after the other.
		parts []int
		from  int64
	}{
		"Once":     {reason: "Bytes that were read at once are read again.", parts: []int{len(all)}},
		"Twice":    {reason: "Bytes that were read in two parts are read again as one part.", parts: []int{100, len(all) - 100}},
		"Boundary": {reason: "A part that ends where a chunk does is followed by the next part.", parts: []int{2 * chunkBytes, len(all) - 2*chunkBytes}},
		"Middle":   {reason: "Reading goes on from any place.", parts: []int{len(all)}, from: chunkBytes + 7},
		"End":      {reason: "Behind the last byte there is nothing.", parts: []int{10}, from: 10},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, source, size := &chunkBuffer{}, bytes.NewReader(all), 0
			for _, n := range tc.parts {
				size += n
				if err := c.fillFromReader(io.LimitReader(source, int64(n))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Seek(tc.from, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(all[tc.from:size], got) {
				t.Errorf("\n%s\nRead(...): want %d bytes, got others, %d of them: %v", tc.reason, int64(size)-tc.from, len(got), err)
			}
			if diff := cmp.Diff(int64(size), c.size); diff != "" {
				t.Errorf("\n%s\nsize: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
