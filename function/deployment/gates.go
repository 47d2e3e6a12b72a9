package deployment

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// CompileChecks returns the checks of a revision with a plan. It returns an error, whose reason ReasonOf returns, for what could not be measured.
func CompileChecks(c *gates.Compiler, in Input, i intent.Intent, s *catalog.Selection, plan []rolloutv1alpha1.Step) (gates.Checks, error) {
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

// changesChecks is true when the Gate of the order's step cannot measure, and the revision would be judged by other checks now. Those of a
// Gate never change, so it takes the next revision to ask them.
func (p plan) changesChecks(f *phase.Input) bool {
	g := f.AwaitingGate()
	return g != nil && !equality.Semantic.DeepEqual(g.Spec.ForProvider.Checks, p.checks.At(f.Order.Plan[f.Order.Step]))
}

// gates asks for the Gate of the order's step, which waits until that is live, and lets those go that have told all they can: when every
// repository remembers the verdict, the Gates of earlier steps, and by then, or with the first Gate of the revision, those of others. Whatever is
// added or removed makes a generation of the composite, which Crossplane tells in several writes: so all of that happens with the order.
func (p plan) gates(in Input, f *phase.Input, out *Output) error {
	name := compose.GateName(*f.Order)
	g, err := p.gate(in, f, name)
	if err != nil {
		return err
	}
	if g != nil {
		out.Resources[name] = Resource{Object: g}
	}
	remembered := f.IsVerdictRecorded()
	judged := remembered || g != nil || f.Gates[name] != nil
	for other, o := range f.Gates {
		of := o.Spec.ForProvider.Order
		another := of.Revision != f.Order.Revision || of.Request != f.Order.Request
		if another && judged || !another && of.Step < f.Order.Step && remembered {
			delete(out.Resources, other)
		}
	}
	return nil
}

// gate is the one to make, or nil.
func (p plan) gate(in Input, f *phase.Input, name string) (*unstructured.Unstructured, error) {
	if f.Gates[name] != nil || f.Order.Verdict != nil || !rollout.Gated(*f.Order) {
		return nil, nil //nolint:nilnil // There is nothing to judge.
	}
	g := compose.Gate(in.Claim, *f.Order, f.ObservedSync, in.Spec.GatesConfig, p.checks.At(f.Order.Plan[f.Order.Step]))
	if g == nil {
		return nil, nil //nolint:nilnil // There is nothing to ask.
	}
	o, err := compose.Encode(g)
	return o, errors.Wrapf(err, "cannot encode composed resource %q", name)
}
