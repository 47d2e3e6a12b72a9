package deployment

import (
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/catalog"
)

// PlanCanary returns the steps in which a revision goes out to Sites that all run another revision, wave by wave. It returns none for a deployment without
// steps, and an error for steps that cannot be planned.
func PlanCanary(in Input, s *catalog.Selection, hasChecks bool) ([]canary.PlannedWave, error) {
	config := in.Spec.DeliveryConfig.Canary
	if config == nil || !ptr.Deref(config.Enabled, true) || s.Blueprint.Spec.Canary == nil {
		return nil, nil
	}
	waves, err := canaryWaves(in.Spec.DeliveryConfig, *config, s.Places)
	if err != nil {
		return nil, err
	}
	return canary.PlanWaves(canary.Input{Waves: waves, Scale: config.Scale, HasChecks: hasChecks, IsServed: func(string) bool { return true }})
}
