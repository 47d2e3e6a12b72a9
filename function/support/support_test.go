package support

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
)

func TestSpec(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   deploymentv1alpha1.IntentDeploymentSpec
		want   []string
	}{
		"Understood": {
			reason: "All of an expectation reaches the Blueprint.",
			spec: deploymentv1alpha1.IntentDeploymentSpec{Expectation: &deploymentv1alpha1.Expectation{
				Service: "shop", Priority: "high", QoS: &deploymentv1alpha1.QoS{LatencyMs: "20"}, Slice: &deploymentv1alpha1.Slice{SST: 1},
				Endpoints: []deploymentv1alpha1.Endpoint{{Name: "http", Port: 80}},
			}},
		},
		"Thresholds": {
			reason: "Nothing is judged yet.",
			spec: deploymentv1alpha1.IntentDeploymentSpec{GatesConfig: deploymentv1alpha1.GatesConfig{
				SLOThresholds: map[string]deploymentv1alpha1.Threshold{"latency_p99": "500ms"},
			}},
			want: []string{"spec.gatesConfig.sloThresholds"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Spec(&tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nSpec(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestIntent(t *testing.T) {
	cases := map[string]struct {
		reason string
		intent intent.Intent
		want   []string
	}{
		"Nothing":    {reason: "An intent without objectives is all carried out.", intent: intent.Intent{Service: "shop"}},
		"Objectives": {reason: "Objectives are not judged yet.", intent: intent.Intent{SLOs: map[string]string{"latency_p99": "< 500ms"}}, want: []string{"spec.intent: service level objectives"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Intent(tc.intent)); diff != "" {
				t.Errorf("\n%s\nIntent(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
