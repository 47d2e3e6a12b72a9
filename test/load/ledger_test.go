package load

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestDeepest empties a bucket that gets one token back each second, and never has more than all.
func TestDeepest(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	entryAt := func(seconds, tokens int) Entry {
		return Entry{At: began.Add(time.Duration(seconds) * time.Second), Tokens: tokens}
	}
	cases := map[string]struct {
		reason  string
		entries []Entry
		want    float64
	}{
		"None":   {reason: "A ledger without entries charges nothing."},
		"AtOnce": {reason: "Tokens that are spent in one moment do not come back.", entries: []Entry{entryAt(0, 2), entryAt(0, 1)}, want: 3},
		"Slowly": {reason: "All spent tokens come back, and no more than these.", entries: []Entry{entryAt(0, 2), entryAt(60, 2), entryAt(61, 2)}, want: 3},
		"Before": {reason: "The largest number of missing tokens counts.", entries: []Entry{entryAt(0, 9), entryAt(5, 1)}, want: 9},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, (&Ledger{entries: tc.entries}).Deepest()); diff != "" {
				t.Errorf("\n%s\nDeepest(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
