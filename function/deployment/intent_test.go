package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

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
				t.Errorf("\n%s\njudged(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got.SLOThresholds); diff != "" {
				t.Errorf("\n%s\njudged(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(*original, configured); diff != "" {
				t.Errorf("\n%s\njudged(...) changed its input: -want, +got:\n%s", tc.reason, diff)
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
			t.Fatalf("%s: read(...): %v", name, err)
		}
		if s.GatesConfig, err = withObjectives(s.GatesConfig, i, field); err != nil {
			t.Fatalf("%s: judged(...): %v", name, err)
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

// measured lets the Blueprint measure a latency, and the Sites be asked for it.
func (w *world) measured() {
	w.t.Helper()
	metric := map[string]any{"name": "latency_p99", "query": `p99{site="{{site}}"}`, "unit": "s", "direction": "AtMost"}
	w.set("Blueprint", "web-1.0.0", []any{metric}, "spec", "metrics")
	for _, site := range []string{"edge1", "edge2"} {
		w.set("Site", site, "http://prometheus", "spec", "metrics", "prometheus", "address")
	}
}

func TestObjectivesInIntent(t *testing.T) {
	w := newWorld(t)
	w.measured()
	w.say("Deploy shop on edge1 and edge2, p99 latency under 500 ms")
	out := w.settle()
	w.wantCondition("Without a verdict nothing is validated.", out, deploymentv1alpha1.TypeValidated, corev1.ConditionUnknown, deploymentv1alpha1.ReasonMeasuring)
	understood := `{"service":"shop","sites":["edge1","edge2"],"slos":{"latency_p99":"< 500ms"}}`
	if diff := cmp.Diff(understood, out.Status.Understood); diff != "" {
		t.Errorf("status.understood: -want, +got:\n%s", diff)
	}
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"availability": "99%"}
	out = w.call()
	w.wantCondition("A metric without a query cannot be judged.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidSpec)
	w.wantFrozen("The started revision goes on.", out)
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "1s"}
	out = w.call()
	w.wantCondition("One metric with two values cannot be judged.", out, deploymentv1alpha1.TypeValid, corev1.ConditionFalse, deploymentv1alpha1.ReasonInvalidIntent)
	w.wantFrozen("The started revision goes on.", out)
}
