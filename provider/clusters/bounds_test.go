package clusters

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEventsArePaced reads events of one author no faster than their share, and those of another one meanwhile.
func TestEventsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, other := newAccount("a", Bounds{}), newAccount("b", Bounds{})
		began := time.Now()
		if err := (&expectation{kind: eventsAnswer, account: fast}).paceEvents(t.Context(), eventBurst+10*eventRate); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(began).Round(time.Second); got != 10*time.Second {
			t.Errorf("a burst, and what comes in ten seconds, is read in %s", got)
		}
		began = time.Now()
		if err := (&expectation{kind: eventsAnswer, account: other}).paceEvents(t.Context(), eventBurst); err != nil || time.Since(began) > 0 {
			t.Errorf("events of another author wait %s: %v", time.Since(began), err)
		}
	})
}

func TestPenalty(t *testing.T) {
	cases := map[string]struct {
		reason string
		n      int
		want   time.Duration
	}{
		"First": {reason: "The first penalty is short.", n: 1, want: firstPenalty},
		"Third": {reason: "Each further penalty is twice as long.", n: 3, want: 4 * firstPenalty},
		"Many":  {reason: "No penalty is longer than an hour.", n: 1000, want: time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, penaltyAfter(tc.n)); diff != "" {
				t.Errorf("%s\npenalty(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
