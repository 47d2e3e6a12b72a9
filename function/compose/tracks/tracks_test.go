package tracks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestDrain(t *testing.T) {
	cases := map[string]struct {
		reason string
		canary *deploymentv1alpha1.CanaryConfig
		want   string
	}{
		"Absent": {reason: "A spec without a canary has the default of the schema.", want: "30s"},
		"Set":    {reason: "The duration of the spec counts.", canary: &deploymentv1alpha1.CanaryConfig{Drain: "2m"}, want: "2m"},
		"Empty": {
			reason: "A canary without a duration has the default of the schema.",
			canary: &deploymentv1alpha1.CanaryConfig{}, want: "30s",
		},
		"Invalid": {
			reason: "A text that has no unit of time has the default of the schema.",
			canary: &deploymentv1alpha1.CanaryConfig{Drain: "soon"}, want: "30s",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Drain(deploymentv1alpha1.DeliveryConfig{Canary: tc.canary})); diff != "" {
				t.Errorf("\n%s\nDrain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
