package figure

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A recorder keeps the log and the failures of a test.
type recorder struct {
	testing.TB

	logs, failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		reason   string
		variable string
		got      float64
		failures []string
	}{
		"Unset": {reason: "A figure above its limit is logged alone by default.", got: 12.5},
		"Off":   {reason: "A value other than 1 does not compare figures.", variable: "0", got: 12.5},
		"Above": {
			reason:   "A figure above its limit fails the test where figures are compared.",
			variable: "1", got: 12.5, failures: []string{"figure tokens is 12.5, above its limit of 10"},
		},
		"AtLimit":  {reason: "The limit itself is a good value.", variable: "1", got: 10},
		"Negative": {reason: "A figure below zero is below its limit.", variable: "1", got: -1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv(variable, tc.variable)
			r := &recorder{TB: t}
			Check(r, "tokens", tc.got, 10)
			if diff := cmp.Diff([]string{fmt.Sprintf("figure tokens=%v limit=10", tc.got)}, r.logs); diff != "" {
				t.Errorf("\n%s\nCheck(...): log: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.failures, r.failures); diff != "" {
				t.Errorf("\n%s\nCheck(...): failures: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
