package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestAsMetrics(t *testing.T) {
	query := func(name, threshold string) deploymentv1alpha1.Check {
		return deploymentv1alpha1.Check{Name: name, Type: typePrometheus, Threshold: deploymentv1alpha1.Threshold(threshold), Prometheus: &deploymentv1alpha1.PrometheusCheck{Query: "up"}}
	}
	cases := map[string]struct {
		reason string
		in     []deploymentv1alpha1.Check
		want   []string
	}{
		"Names": {
			reason: "A name becomes a valid name of an intent, and the threshold says which side is good.",
			in:     []deploymentv1alpha1.Check{query("Success-Rate", ">= 1"), query("latency", "< 2")},
			want:   []string{"success_rate AtLeast >= 1", "latency AtMost < 2"},
		},
		"Equal":     {reason: "Two checks are not one metric.", in: []deploymentv1alpha1.Check{query("a-b", "< 1"), query("a_b", "< 1")}},
		"Digit":     {reason: "A name that begins with a digit is refused.", in: []deploymentv1alpha1.Check{query("5xx", "< 1")}},
		"OtherType": {reason: "A Blueprint has no web checks.", in: []deploymentv1alpha1.Check{{Name: "a", Type: typeWeb}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			if m, err := (&Conversion{Checks: tc.in}).AsMetrics(); err == nil {
				for _, converted := range m.Metrics {
					got = append(got, converted.Name+" "+string(converted.Direction)+" "+string(m.Thresholds[converted.Name]))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAsMetrics(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
