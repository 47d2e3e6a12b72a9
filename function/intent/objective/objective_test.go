package objective

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/measure"
	"github.com/intentplane/intentplane/function/intent/document"
)

func TestAddTo(t *testing.T) {
	type limits struct {
		QoS  QoS
		SLOs map[string]string
	}
	cases := map[string]struct {
		reason   string
		previous limits
		add      Objective
		want     limits
		problem  string
	}{
		"QoS": {
			reason: "The latency is required of the network, as a number without a comparison.",
			add:    Objective{Name: "latency", Comparison: "<", Amount: measure.Amount{Value: "20", Unit: measure.Milliseconds}},
			want:   limits{QoS: QoS{LatencyMs: "20"}},
		},
		"Percent": {
			reason: "A loss of packets in percent becomes a share.",
			add:    Objective{Name: "packet_loss_rate", Amount: measure.Amount{Value: "1", Unit: measure.Percent}},
			want:   limits{QoS: QoS{PacketLossRate: "0.01"}},
		},
		"Metric": {
			reason: "An objective of a metric is a threshold by the name of the metric.",
			add:    Objective{Name: "latency_p99", Comparison: "<=", Amount: measure.Amount{Value: "500", Unit: measure.Milliseconds}},
			want:   limits{SLOs: map[string]string{"latency_p99": "<= 500ms"}},
		},
		"SecondQoS": {
			reason:   "A second value for the latency is refused.",
			previous: limits{QoS: QoS{LatencyMs: "10"}},
			add:      Objective{Name: "latency", Amount: measure.Amount{Value: "20", Unit: measure.Milliseconds}},
			want:     limits{QoS: QoS{LatencyMs: "10"}},
			problem:  "says the latency a second time",
		},
		"SecondMetric": {
			reason:   "A second threshold of a metric is refused.",
			previous: limits{SLOs: map[string]string{"error_rate": "< 1%"}},
			add:      Objective{Name: "error_rate", Comparison: "<", Amount: measure.Amount{Value: "2", Unit: measure.Percent}},
			want:     limits{SLOs: map[string]string{"error_rate": "< 1%"}},
			problem:  "says the error rate a second time",
		},
		"NoComparison": {
			reason:  "A threshold of a metric needs a comparison.",
			add:     Objective{Name: "throughput", Amount: measure.Amount{Value: "5", Unit: measure.Mbps}},
			problem: "needs a comparison: say under, at most, over or at least",
		},
		"WrongSide": {
			reason:  "A lower limit of an error rate is refused.",
			add:     Objective{Name: "error_rate", Comparison: ">", Amount: measure.Amount{Value: "1", Unit: measure.Percent}},
			problem: "error rate has an upper limit: say under or at most",
		},
		"WrongUnit": {
			reason:  "An availability in milliseconds is refused.",
			add:     Objective{Name: "availability", Comparison: ">", Amount: measure.Amount{Value: "99", Unit: measure.Milliseconds}},
			problem: "availability must be in " + measure.Percent,
		},
		"Unknown": {
			reason:  "A metric that intents have no name for is refused.",
			add:     Objective{Name: "mood"},
			problem: `"mood" is nothing that can be measured`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.previous
			prob := tc.add.AddTo(&got.QoS, &got.SLOs, "objectives[0]")
			var want *document.Problem
			if tc.problem != "" {
				want = document.Problemf("objectives[0]", "%s", tc.problem)
			}
			if diff := cmp.Diff(want, prob); diff != "" {
				t.Errorf("\n%s\nAddTo(...): -want problem, +got problem:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAddTo(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
