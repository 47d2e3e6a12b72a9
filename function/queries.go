package function

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
)

// judges are the checks of a revision. It returns a problem for what could not be judged.
func judges(c *gates.Compiler, in Input, i intent.Intent, s *catalog.Selection, plan []rolloutv1alpha1.Step) (gates.Checks, error) {
	checks, err := c.Compile(gates.Input{
		Service: i.Service, Namespace: in.Claim.Namespace, Config: in.Spec.GatesConfig, Blueprint: &s.Blueprint, Places: s.Places, Plan: plan,
		Objectives: objectiveFields(in.Spec, i),
	})
	if err != nil {
		return nil, terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
	}
	return checks, nil
}

// objectiveFields are the fields that say the objectives of an intent, by their metrics.
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

// gated is a plan that says which of its steps are judged by a Gate. It is no part of a request: what decides about it is.
func gated(plan []rolloutv1alpha1.Step, checks gates.Checks) []rolloutv1alpha1.Step {
	out := slices.Clone(plan)
	for i, step := range out {
		if len(checks.At(step)) > 0 {
			out[i].Gate = new(true)
		}
	}
	return out
}

// checkMetrics returns a problem when a gate could not ask what a Blueprint says, or could not judge the answers.
func checkMetrics(b catalogv1alpha1.BlueprintSpec) error {
	err := promql.Check(b.Metrics)
	if err == nil {
		err = gates.CheckMetrics(b.Metrics)
	}
	if err != nil {
		// Its name is made of these, as its schema says.
		err = errors.Wrapf(err, "Blueprint %s-%s", b.BlueprintName, b.Version)
		return terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling, err)
	}
	return nil
}
