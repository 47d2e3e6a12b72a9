package instant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEarliest(t *testing.T) {
	unset, first, second := time.Time{}, time.Unix(1, 0), time.Unix(2, 0)
	cases := map[string]struct {
		reason     string
		a, b, want time.Time
	}{
		"First":   {reason: "The first time is returned if it is earlier.", a: first, b: second, want: first},
		"Second":  {reason: "The second time is returned if it is earlier.", a: second, b: first, want: first},
		"NoFirst": {reason: "A zero first time does not count.", a: unset, b: second, want: second},
		"NoOther": {reason: "A zero second time does not count.", a: first, b: unset, want: first},
		"None":    {reason: "Two zero times have no earlier time.", a: unset, b: unset, want: unset},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Earliest(tc.a, tc.b)); diff != "" {
				t.Errorf("%s\nEarliest(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTimestamp(t *testing.T) {
	local := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("east", 3600))
	if diff := cmp.Diff("2026-01-02T02:04:05Z", Timestamp(local).Format(time.RFC3339Nano)); diff != "" {
		t.Errorf("A timestamp has whole seconds, in UTC.\nTimestamp(...): -want, +got:\n%s", diff)
	}
}
