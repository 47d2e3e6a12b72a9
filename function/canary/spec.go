package canary

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// CheckSpec returns an error that names the field for steps of a spec that no revision can go through.
func CheckSpec(spec deploymentv1alpha1.IntentDeploymentSpec, s *catalog.Selection) error {
	config := spec.DeliveryConfig.Canary
	err := checkWavesWithoutCanary(spec.DeliveryConfig)
	switch {
	case err != nil || config == nil:
		return err
	case s.Blueprint.Spec.Canary == nil:
		return errors.Errorf("spec.deliveryConfig.canary: Blueprint %s has no spec.canary, so that its workload cannot share requests with the revision before",
			s.Blueprint.GetName())
	}
	for _, p := range s.Places {
		if p.Site.Spec.Engine.Type == catalogv1alpha1.EngineNone {
			return errors.Errorf("spec.deliveryConfig.canary: Site %s has no engine, so that no step could be proven there", p.Site.GetName())
		}
	}
	if err := CheckDrain(config.Drain, spec.RollbackConfig.AttemptTimeout); err != nil {
		return err
	}
	_, err = PlanSpec(spec, s, true)
	return err
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

// PlanSpec returns the steps in which a revision goes out to Sites that all run another revision, wave by wave: no other revision has more steps. It returns
// none for a deployment without steps, and an error for steps that cannot be planned.
func PlanSpec(spec deploymentv1alpha1.IntentDeploymentSpec, s *catalog.Selection, hasChecks bool) ([]PlannedWave, error) {
	config := spec.DeliveryConfig.Canary
	if config == nil || !ptr.Deref(config.Enabled, true) || s.Blueprint.Spec.Canary == nil {
		return nil, nil
	}
	waves, err := WavesOf(spec.DeliveryConfig, s.Places)
	if err != nil {
		return nil, err
	}
	return PlanWaves(Input{Waves: waves, Scale: config.Scale, HasChecks: hasChecks, IsServed: func(string) bool { return true }})
}
