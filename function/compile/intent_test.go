package compile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
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
			reason: "The gates may add metrics, and repeat metrics of the intent.",
			gates:  thresholds{"latency_p99": "<0.5 s", "error_rate": "0.05"},
			slos:   map[string]string{"latency_p99": "< 500ms"},
			want:   thresholds{"latency_p99": "< 500ms", "error_rate": "0.05"},
		},
		"WrongWay": {
			reason: "A threshold that points to the bad side of its metric is refused with its field.",
			gates:  thresholds{"error_rate": ">= 5 %"},
			want:   thresholds{"error_rate": ">= 5 %"},
			err:    `spec.gatesConfig.sloThresholds.error_rate: ">= 5%" points the wrong way: less is better, so the threshold must begin with <= or <`,
		},
		"Conflict": {
			reason: "One metric with two values is an error that names both fields.",
			gates:  thresholds{"latency_p99": "400ms"},
			slos:   map[string]string{"latency_p99": "< 500ms"},
			want:   thresholds{"latency_p99": "400ms"},
			err:    `spec.gatesConfig.sloThresholds.latency_p99 says "400ms", and the latency_p99 of spec.intent is "< 500ms": set only one of them`,
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
			configured := deploymentv1alpha1.GatesConfig{SLOThresholds: tc.gates}
			original := configured.DeepCopy()
			got, err := withObjectives(configured, intent.Intent{SLOs: tc.slos}, "spec.intent")
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.err, text); diff != "" {
				t.Errorf("\n%s\nwithObjectives(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got.SLOThresholds); diff != "" {
				t.Errorf("\n%s\nwithObjectives(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(*original, configured); diff != "" {
				t.Errorf("\n%s\nwithObjectives(...) changed its input: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSameRequest says one thing in several ways, and wants one request.
func TestSameRequest(t *testing.T) {
	text := func(s string) *string { return &s }
	gates := deploymentv1alpha1.GatesConfig{SLOThresholds: map[string]deploymentv1alpha1.Threshold{"latency_p99": "<0.5 s"}}
	specs := map[string]deploymentv1alpha1.IntentDeploymentSpec{
		"Sentence": {Intent: text("Deploy shop on edge1, p99 latency under 500 ms, high priority")},
		"JSON":     {Intent: text(`{"service": "shop", "site": "edge1", "priority": "high", "slos": {"latency_p99": "< 500ms"}}`)},
		"Twice":    {Intent: text("High priority, deploy shop at edge1, latency p99 below 0.5 s"), GatesConfig: gates},
		"Expectation": {
			Expectation: &deploymentv1alpha1.Expectation{Service: "shop", Sites: []deploymentv1alpha1.SiteName{"edge1"}, Priority: "high"},
			GatesConfig: gates,
		},
	}
	digests := map[string]bool{}
	for name, s := range specs {
		s.Default()
		i, field, err := decodeIntent(s, intent.FromText)
		if err != nil {
			t.Fatalf("%s: decodeIntent(...): %v", name, err)
		}
		if s.GatesConfig, err = withObjectives(s.GatesConfig, i, field); err != nil {
			t.Fatalf("%s: withObjectives(...): %v", name, err)
		}
		r, err := NewRequest(s, string(i.WithoutSLOs().Canonical()), &catalog.Selection{}, "sha256:0", 1)
		if err != nil {
			t.Fatalf("%s: NewRequest(...): %v", name, err)
		}
		digests[r.Digest()] = true
	}
	if len(digests) != 1 {
		t.Errorf("all forms must give one request, not %d", len(digests))
	}
}
