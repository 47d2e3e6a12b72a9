package deployment

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
)

// checkCanary returns a problem of the steps in a spec.
func checkCanary(spec deploymentv1alpha1.IntentDeploymentSpec, s *catalog.Selection) error {
	config := spec.DeliveryConfig.Canary
	err := checkWavesWithoutCanary(spec.DeliveryConfig)
	switch {
	case err != nil:
	case config == nil:
		return nil
	case s.Blueprint.Spec.Canary == nil:
		err = errors.Errorf("spec.deliveryConfig.canary: Blueprint %s has no spec.canary, so that its workload cannot share requests with the revision before", s.Blueprint.GetName())
	default:
		err = checkCanaryPlan(spec, *config, s.Places)
	}
	if err == nil {
		return nil
	}
	return terminalProblem(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
}

// checkWavesWithoutCanary returns an error for steps of a wave that nothing else is said about.
func checkWavesWithoutCanary(d deploymentv1alpha1.DeliveryConfig) error {
	for i, w := range d.Waves {
		if len(w.Steps) > 0 && d.Canary == nil {
			return errors.Errorf("spec.deliveryConfig.waves[%d].steps: spec.deliveryConfig.canary is not set", i)
		}
	}
	return nil
}

// checkCanaryPlan plans the steps for Sites that all run another revision, which has the most of them.
func checkCanaryPlan(spec deploymentv1alpha1.IntentDeploymentSpec, config deploymentv1alpha1.CanaryConfig, places []catalog.Place) error {
	for _, p := range places {
		if p.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone {
			return errors.Errorf("spec.deliveryConfig.canary: Site %s has no engine, so that no step could be proven there", p.Site.GetName())
		}
	}
	if err := canary.CheckDrain(config.Drain, spec.RollbackConfig.AttemptTimeout); err != nil {
		return err
	}
	waves, err := canaryWaves(spec.DeliveryConfig, config, places)
	if err != nil || !ptr.Deref(config.Enabled, true) {
		return err
	}
	_, err = canary.Plan(canary.Input{Waves: waves, Scale: config.Scale, HasChecks: true, IsServed: func(string) bool { return true }})
	return err
}

// canaryWaves returns the waves of a spec that have Sites, and at last the Sites that are in none, each with its steps.
func canaryWaves(d deploymentv1alpha1.DeliveryConfig, config deploymentv1alpha1.CanaryConfig, places []catalog.Place) ([]canary.Wave, error) {
	in, err := waveOfSites(d.Waves, places)
	if err != nil {
		return nil, err
	}
	all := make([]canary.Wave, len(d.Waves)+1)
	for i := range all {
		all[i] = canary.Wave{Steps: config.Steps, Field: "spec.deliveryConfig.canary.steps"}
		if i < len(d.Waves) {
			all[i].Name = d.Waves[i].Name
		}
		if i < len(d.Waves) && len(d.Waves[i].Steps) > 0 {
			all[i].Steps, all[i].Field = d.Waves[i].Steps, fmt.Sprintf("spec.deliveryConfig.waves[%d].steps", i)
		}
	}
	for _, p := range places {
		n, ok := in[p.Site.GetName()]
		if !ok {
			n = len(d.Waves)
		}
		all[n].Sites = append(all[n].Sites, p.Site.GetName())
	}
	var out []canary.Wave
	for _, w := range all {
		if len(w.Sites) > 0 {
			out = append(out, w)
		}
	}
	return out, nil
}
