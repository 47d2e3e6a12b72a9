package compile

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
)

// Checks returns the checks of a revision with a plan. In a placement with steps they may compare the two tracks. It returns an error, whose reason
// ReasonOf returns, for checks that cannot be measured.
func Checks(c *gates.Compiler, d Deployment, i intent.Intent, s *catalog.Selection, plan []ledger.Step, placement step.Placement) (gates.Checks, error) {
	from := gates.Input{
		Service: i.Service, Namespace: d.Claim.Namespace, Image: i.Image, Config: d.Spec.GatesConfig, Blueprint: &s.Blueprint, Places: s.Places, Plan: plan,
		Objectives: objectiveFields(d.Spec, i),
	}
	if placement.HasSteps {
		from.Canary, from.Stable = placement.Track, ledger.OtherTrack(placement.Track)
	}
	checks, err := c.Compile(from)
	if err != nil {
		return nil, InvalidSpec(err)
	}
	return checks, nil
}

// Checks is the function Checks for a selection, with a cache.
func (c *Compiler) Checks(from Selection, plan []ledger.Step, placement step.Placement) (gates.Checks, error) {
	return Checks(c.gates, from.Deployment, from.Intent, from.Catalog, plan, placement)
}

// objectiveFields returns the fields with the objectives of an intent, by their metrics.
func objectiveFields(s deploymentv1alpha1.IntentDeploymentSpec, i intent.Intent) map[string]string {
	field, out := "spec.intent", make(map[string]string, len(i.SLOs))
	if s.Expectation != nil {
		field = "spec.expectation"
	}
	for metric := range i.SLOs {
		out[metric] = field
	}
	return out
}

// markGatedSteps returns a plan that marks the steps with a Gate. The mark is not part of a request, but its inputs are.
func markGatedSteps(plan []ledger.Step, checks gates.Checks) []ledger.Step {
	out := slices.Clone(plan)
	for i, step := range out {
		if len(checks.At(step)) > 0 {
			out[i].Gate = true
		}
	}
	return out
}

// checkMetrics returns a problem when a gate could not send a query of a Blueprint, or could not judge the answers.
func checkMetrics(b catalogv1alpha1.BlueprintSpec) error {
	err := promql.Check(b.Metrics)
	if err == nil {
		err = gates.CheckMetrics(b.Metrics)
	}
	if err != nil {
		// Its name is made of these, as its schema says.
		return InvalidSpec(errors.Wrapf(err, "Blueprint %s-%s", b.BlueprintName, b.Version))
	}
	return nil
}
