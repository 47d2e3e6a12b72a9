package deployment

import (
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/api/equality"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/promql"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/function/intent"
)

// CompileChecks returns the checks of a revision with a plan. In a placement with steps they may compare the two tracks. It returns an error, whose reason
// ReasonOf returns, for checks that cannot be measured.
func CompileChecks(c *gates.Compiler, in Input, i intent.Intent, s *catalog.Selection, plan []ledger.Step, placement step.Placement) (gates.Checks, error) {
	from := gates.Input{
		Service: i.Service, Namespace: in.Claim.Namespace, Image: i.Image, Config: in.Spec.GatesConfig, Blueprint: &s.Blueprint, Places: s.Places, Plan: plan,
		Objectives: objectiveFields(in.Spec, i),
	}
	if placement.HasSteps {
		from.Canary, from.Stable = placement.Track, ledger.OtherTrack(placement.Track)
	}
	checks, err := c.Compile(from)
	if err != nil {
		return nil, invalidSpec(err)
	}
	return checks, nil
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

// markGates returns a plan that marks the steps with a Gate. The mark is not part of a request, but its inputs are.
func markGates(plan []ledger.Step, checks gates.Checks) []ledger.Step {
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
		return invalidSpec(errors.Wrapf(err, "Blueprint %s-%s", b.BlueprintName, b.Version))
	}
	return nil
}

// changesChecks is true when the Gate of the current step cannot measure, and the checks for the revision have changed since. The checks
// of a Gate never change, so only the next revision can have new checks.
func changesChecks(o Observed, k Compiled) bool {
	c := o.compareWithItself()
	g := c.AwaitingGate()
	return g != nil && !equality.Semantic.DeepEqual(g.Spec.ForProvider.Checks, k.checksOf(o.state))
}

// maxChecksAhead is the greatest number of checks in the Gates that are composed with the first step of a revision with steps. With more checks, each
// Gate is composed with its step, so that the messages of Crossplane stay small.
const maxChecksAhead = 200

// composeGates composes the Gate of the current step, which waits until that is live, and removes obsolete Gates: when the ledger holds the verdict,
// the Gates of earlier steps, and by then, or with the first Gate of the revision, the Gates of other revisions. Each added or removed Gate changes the
// generation of the composite, which Crossplane writes several times: so all of that comes with the revision. For the same reason a revision that
// shares requests has the Gates of all of its steps from its first step on, and until the next revision.
func (dr decider) composeGates(d Decision) {
	isComposed := dr.composeNewGates(d)
	recorded := d.IsVerdictRecorded()
	judged := recorded || isComposed || d.Gates[compose.GateName(d.State.Position())] != nil
	for gateName, o := range d.Gates {
		isOtherRevision, position := !evidence.IsGateOfRevision(o, d.State), o.Spec.ForProvider.AskedPosition()
		isDone := recorded && !d.State.Current.HasSteps() && position.Step < d.State.Cursor.Step
		if isOtherRevision && judged || !isOtherRevision && isDone {
			delete(d.retained, gateName)
		}
	}
}

// composeNewGates composes the Gates that are not there, and reports whether there are any.
func (dr decider) composeNewGates(d Decision) bool {
	isComposed := false
	for _, s := range dr.statesToJudge(d) {
		name := compose.GateName(s.Position())
		if g := dr.newGate(d, s, name); g != nil {
			d.composed[name], isComposed = g, true
		}
	}
	return isComposed
}

// statesToJudge returns the state, and the states in which the Gates of its later steps will judge it, as far as these are composed ahead.
func (dr decider) statesToJudge(d Decision) []ledger.State {
	s := d.State
	if s.Verdict != nil || !s.Current.HasSteps() || s.Cursor.Attempt > 0 {
		return []ledger.State{s}
	}
	var out []ledger.State
	checks := 0
	for step := s.Cursor.Step; int(step) < len(s.Current.Plan); step++ {
		next := s
		next.Cursor.Step, next.Cursor.Stage = step, ledger.StageSteps
		if next.IsGated() {
			checks += len(dr.compiled.checksOf(next))
		}
		if checks > maxChecksAhead {
			return []ledger.State{s}
		}
		out = append(out, next)
	}
	return out
}

// newGate returns the Gate to create for a state, or nil if there is nothing to judge or to ask.
func (dr decider) newGate(d Decision, s ledger.State, name string) *rolloutv1alpha1.Gate {
	if d.Gates[name] != nil || s.Verdict != nil || !s.IsGated() || s.IsBeforeSteps() {
		return nil
	}
	g := compose.Gate(dr.in.Claim, s, d.ObservedSync, dr.in.Spec.GatesConfig, dr.compiled.checksOf(s))
	if c := dr.in.Spec.DeliveryConfig.Canary; g != nil && c != nil && s.HasTracks() && c.OnInconclusive == deploymentv1alpha1.InconclusiveHold {
		g.Spec.ForProvider.OnInconclusive = c.OnInconclusive
	}
	return g
}

// checksOf returns the checks of the step of a state, at all Sites that the step decides about. While two tracks get requests, these are the checks
// for canaries.
func (c Compiled) checksOf(s ledger.State) []rolloutv1alpha1.GateCheck {
	checks := c.checks
	if s.Current.Plan[s.Cursor.Step].SharesRequests() && c.desired.Placement.Track == s.Current.Track {
		checks = c.canaryChecks
	}
	return checks.At(ledger.Step{Sites: s.Current.SitesAt(s.Cursor.Step)})
}
