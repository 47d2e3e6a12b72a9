package gates

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestRulesOf(t *testing.T) {
	n := func(i int32) *int32 { return &i }
	cases := map[string]struct {
		reason string
		check  deploymentv1alpha1.Check
		want   Rules
		err    string
	}{
		"Defaults": {reason: "An absent field has its default.", want: Rules{
			InitialDelay: 30 * time.Second, Interval: 30 * time.Second, Timeout: 5 * time.Minute, Count: 3, ErrorLimit: 4,
		}},
		"Said": {
			reason: "Fields that are set hold, also zeros.",
			check: deploymentv1alpha1.Check{
				InitialDelay: "1s", Interval: "5s", Timeout: "1m", Count: n(2), FailureLimit: n(1), ConsecutiveErrorLimit: n(0), InconclusiveLimit: n(7),
			},
			want: Rules{InitialDelay: time.Second, Interval: 5 * time.Second, Timeout: time.Minute, Count: 2, FailureLimit: 1, InconclusiveLimit: 7},
		},
		"TooOften": {
			reason: "A server is not asked a thousand times in a second.",
			check:  deploymentv1alpha1.Check{Interval: "1ms"}, err: "interval: must be at least 1s",
		},
		"TooLong": {
			reason: "A timeout over the limit is refused.",
			check:  deploymentv1alpha1.Check{Timeout: "9999h"}, err: "timeout: must be a duration of at most 24h0m0s",
		},
		"NoTime": {
			reason: "A text that is not a duration is refused.",
			check:  deploymentv1alpha1.Check{InitialDelay: "soon"}, err: "initialDelay: must be a duration of at most 24h0m0s",
		},
		"CannotEnd": {
			reason: "A check that needs more time than it has could never pass.",
			check:  deploymentv1alpha1.Check{Count: n(11)}, err: "timeout: must be longer than it takes to measure count times at this interval",
		},
		"One": {
			reason: "One measurement may be enough.", check: deploymentv1alpha1.Check{Count: n(1)},
			want: Rules{InitialDelay: 30 * time.Second, Interval: 30 * time.Second, Timeout: 5 * time.Minute, Count: 1, ErrorLimit: 4},
		},
		"NoCount": {
			reason: "A check without measurements could not pass.",
			check:  deploymentv1alpha1.Check{Count: n(0)}, err: "timeout: must be longer than it takes to measure count times at this interval",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := RulesOf(tc.check)
			message := ""
			if err != nil {
				message, got = err.Error(), Rules{}
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("%s\nRulesOf(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRulesOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
