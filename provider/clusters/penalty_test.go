package clusters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
