package compile

import (
	"slices"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/canary"
	"github.com/intentplane/intentplane/function/gates"
)

// WithSteps returns a desired revision with its steps, if it shares requests with the stable revision. Served is true for a Site that the stable revision
// serves.
func WithSteps(from Selection, desired step.Desired, checks gates.Checks, served func(site string) bool) (step.Desired, error) {
	config := from.Deployment.Spec.DeliveryConfig
	switch {
	case !desired.Placement.HasSteps:
		return desired, nil
	case desired.Placement.IsMove: // Both have the pods of the same Service, so that no share would be one.
		config.Canary = &deploymentv1alpha1.CanaryConfig{Scale: deploymentv1alpha1.ScaleFull}
	case config.Canary == nil:
		return desired, nil
	}
	waves, err := canary.WavesOf(config, from.Catalog.Places)
	if err != nil {
		return desired, InvalidSpec(err)
	}
	for i := range waves {
		if desired.Placement.IsMove {
			waves[i].Steps = nil
		}
	}
	plan, err := canary.Plan(canary.Input{Waves: waves, Scale: config.Canary.Scale, HasChecks: len(checks) > 0, IsServed: served})
	if err != nil {
		return desired, InvalidSpec(err)
	}
	desired.Plan = dropUncheckedGates(plan, checks)
	return desired, nil
}

// dropUncheckedGates leaves out the Gates of steps whose Sites have no checks.
func dropUncheckedGates(plan []ledger.Step, checks gates.Checks) []ledger.Step {
	r := ledger.Revision{Plan: plan}
	out := slices.Clone(plan)
	for i := range out {
		if out[i].Gate && len(checks.At(ledger.Step{Sites: r.SitesAt(int32(i))})) == 0 {
			out[i].Gate = false
		}
	}
	return out
}
