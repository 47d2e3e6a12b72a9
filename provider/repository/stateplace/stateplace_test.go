package stateplace

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCountsMoreThan(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason       string
		place, rival Place
		want         bool
	}{
		"Newer": {
			reason: "The newer one of two states counts.",
			place:  Place{counts: true, written: noon.Add(time.Hour)}, rival: Place{counts: true, written: noon}, want: true,
		},
		"Older": {
			reason: "The older one of two states does not count.",
			place:  Place{counts: true, written: noon}, rival: Place{counts: true, written: noon.Add(time.Hour)},
		},
		"Equal": {
			reason: "The state in use counts if another one has the same date.",
			place:  Place{counts: true, written: noon}, rival: Place{counts: true, written: noon},
		},
		"Undated": {
			reason: "A state with a date counts more than a state without one.",
			place:  Place{counts: true, written: noon}, rival: Place{counts: true}, want: true,
		},
		"Alone": {
			reason: "A state counts more than a place without one.",
			place:  Place{counts: true}, rival: Place{written: noon}, want: true,
		},
		"Retired": {
			reason: "A retired state does not count, although it is newer.",
			place:  Place{retired: true, written: noon}, rival: Place{counts: true},
		},
		"None": {
			reason: "Of two places without a state neither counts more.",
			place:  Place{written: noon},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.place.countsMoreThan(tc.rival)); diff != "" {
				t.Errorf("\n%s\ncountsMoreThan(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
