package canary

import (
	"testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// TestCheckSpec checks the steps of specs. No step is left out silently.
func TestCheckSpec(t *testing.T) {
	oneStep := deploymentv1alpha1.CanaryStep{Weight: new(int32(5))}
	manySteps := steps{}
	for n := range int32(10) {
		manySteps = append(manySteps, deploymentv1alpha1.CanaryStep{Weight: new(n + 1)})
	}
	cases := map[string]struct {
		reason string
		change func(*deploymentv1alpha1.IntentDeploymentSpec, *catalog.Selection)
		want   string
	}{
		"None": {
			reason: "A deployment without steps is delivered as ever.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) { s.DeliveryConfig.Canary = nil },
		},
		"Good": {reason: "Steps that can be carried out are let in.", change: func(*deploymentv1alpha1.IntentDeploymentSpec, *catalog.Selection) {}},
		"Disabled": {
			reason: "Steps that are turned off are let in.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) {
				s.DeliveryConfig.Canary.Enabled = new(false)
			},
		},
		"Blueprint": {
			reason: "A Blueprint without tracks cannot share requests.",
			change: func(_ *deploymentv1alpha1.IntentDeploymentSpec, s *catalog.Selection) { s.Blueprint.Spec.Canary = nil },
			want:   "spec.deliveryConfig.canary: Blueprint web-1.0.0 has no spec.canary, so that its workload cannot share requests with the revision before",
		},
		"WaveAlone": {
			reason: "Steps of a wave without anything else about steps are refused.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) {
				s.DeliveryConfig.Canary, s.DeliveryConfig.Waves[0].Steps = nil, steps{oneStep}
			},
			want: "spec.deliveryConfig.waves[0].steps: spec.deliveryConfig.canary is not set",
		},
		"WaveStep": {
			reason: "A wrong step is named by its wave.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) {
				s.DeliveryConfig.Waves[0].Steps = steps{oneStep, oneStep}
			},
			want: "spec.deliveryConfig.waves[0].steps[1]: weight 5 is not higher than the previous weight 5",
		},
		"TooMany": {
			reason: "More steps than a plan has are refused with the waves.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) {
				s.DeliveryConfig.Canary.Steps = manySteps
			},
			want: "spec.deliveryConfig.canary: the waves have 24 steps together, more than 20: 12 of wave first, 12 of the Sites in no wave, " +
				"each with one for the start of the pods",
		},
		"NoEngine": {
			reason: "A Site without an engine proves no step.",
			change: func(_ *deploymentv1alpha1.IntentDeploymentSpec, s *catalog.Selection) {
				s.Places[1].Site.Spec.Engine.Type = catalogv1alpha1.EngineNone
			},
			want: "spec.deliveryConfig.canary: Site edge2 has no engine, so that no step could be proven there",
		},
		"Drain": {
			reason: "A drain that an attempt cannot wait for is refused.",
			change: func(s *deploymentv1alpha1.IntentDeploymentSpec, _ *catalog.Selection) {
				s.DeliveryConfig.Canary.Drain = "5m"
			},
			want: "spec.deliveryConfig.canary.drain: 5m is not less than spec.rollbackConfig.attemptTimeout, which is 5m",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := deploymentv1alpha1.IntentDeploymentSpec{}
			spec.RollbackConfig.AttemptTimeout = "5m"
			spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
			spec.DeliveryConfig.Canary = &deploymentv1alpha1.CanaryConfig{Steps: steps{oneStep}}
			s := &catalog.Selection{Places: make([]catalog.Place, 2)}
			s.Blueprint.SetName("web-1.0.0")
			s.Blueprint.Spec.Canary = &catalogv1alpha1.BlueprintCanary{}
			for i, name := range []string{"edge1", "edge2"} {
				s.Places[i].Site.SetName(name)
				s.Places[i].Site.Spec.Engine.Type = catalogv1alpha1.EngineFlux
			}
			tc.change(&spec, s)
			if got := message(CheckSpec(spec, s)); got != tc.want {
				t.Errorf("\n%s\nCheckSpec(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
