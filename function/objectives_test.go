package function

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
)

func TestJudged(t *testing.T) {
	type thresholds = map[string]deploymentv1alpha1.Threshold
	cases := map[string]struct {
		reason string
		gates  thresholds
		slos   map[string]string
		want   thresholds
		err    string
	}{
		"Neither": {reason: "Nothing to judge by stays nothing."},
		"Intent": {
			reason: "Objectives of the intent are thresholds.",
			slos:   map[string]string{"latency_p99": "< 500ms"},
			want:   thresholds{"latency_p99": "< 500ms"},
		},
		"Both": {
			reason: "The gates may add metrics, and say again what the intent says.",
			gates:  thresholds{"latency_p99": "<0.5 s", "error_rate": "0.05"},
			slos:   map[string]string{"latency_p99": "< 500ms"},
			want:   thresholds{"latency_p99": "< 500ms", "error_rate": "0.05"},
		},
		"Conflict": {
			reason: "One metric with two values is an error that names both fields.",
			gates:  thresholds{"latency_p99": "400ms"},
			slos:   map[string]string{"latency_p99": "< 500ms"},
			want:   thresholds{"latency_p99": "400ms"},
			err:    `spec.gatesConfig.sloThresholds.latency_p99 says "400ms", and the latency_p99 of spec.intent is "< 500ms": say one of them`,
		},
		"Invalid": {
			reason: "Not everything that is read has passed through a schema.",
			gates:  thresholds{"latency_p99": "fast"},
			want:   thresholds{"latency_p99": "fast"},
			err:    "spec.gatesConfig.sloThresholds.latency_p99: must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			given := deploymentv1alpha1.GatesConfig{SLOThresholds: tc.gates}
			before := given.DeepCopy()
			got, err := judged(given, intent.Intent{SLOs: tc.slos}, "spec.intent")
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.err, text); diff != "" {
				t.Errorf("\n%s\njudged(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got.SLOThresholds); diff != "" {
				t.Errorf("\n%s\njudged(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(*before, given); diff != "" {
				t.Errorf("\n%s\njudged(...) changed its input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
