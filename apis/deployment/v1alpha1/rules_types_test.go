package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetricRulesOver(t *testing.T) {
	defaults := MetricRules{
		InitialDelay: "6m", Interval: "30s", Count: new(int32(3)), FailureLimit: new(int32(1)), ConsecutiveErrorLimit: new(int32(4)),
		InconclusiveLimit: new(int32(2)), NoData: NoDataWait, Timeout: "15m",
	}
	custom := MetricRules{
		InitialDelay: "1m", Interval: "10s", Count: new(int32(5)), FailureLimit: new(int32(0)), ConsecutiveErrorLimit: new(int32(0)),
		InconclusiveLimit: new(int32(0)), NoData: NoDataFail, Timeout: "1h",
	}
	changed := defaults
	changed.FailureLimit = new(int32(0))
	cases := map[string]struct {
		reason      string
		rules, base MetricRules
		want        MetricRules
	}{
		"Nothing":    {reason: "A deployment that says nothing is judged by the rules of the Blueprint.", base: defaults, want: defaults},
		"Everything": {reason: "A deployment can say each rule itself.", rules: custom, base: defaults, want: custom},
		"One": {
			reason: "A rule that the deployment sets to 0 is set, and the others come from the Blueprint.",
			rules:  MetricRules{FailureLimit: new(int32(0))}, base: defaults, want: changed,
		},
		"Neither": {reason: "A rule that neither sets is left to the defaults of a check.", want: MetricRules{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.rules.Over(tc.base)); diff != "" {
				t.Errorf("\n%s\nOver(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMetricRulesApply(t *testing.T) {
	rules := MetricRules{Interval: "10s", Count: new(int32(5)), NoData: NoDataWait}
	got := Check{Name: "p99"}
	rules.Apply(&got)
	got.Default()
	*rules.Count = 7
	want := Check{
		Name: "p99", InitialDelay: "30s", Interval: "10s", Count: new(int32(5)), FailureLimit: new(int32(0)), ConsecutiveErrorLimit: new(int32(4)),
		InconclusiveLimit: new(int32(0)), MinSamples: new(int32(1)), NoData: NoDataWait, Timeout: "5m",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Apply(...), with the defaults of a check, and the rules changed since: -want, +got:\n%s", diff)
	}
}
