package deployment

import (
	"k8s.io/apimachinery/pkg/api/equality"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// changesChecks is true when the Gate of the current step cannot measure, and the checks for the revision have changed since. The checks
// of a Gate never change, so only the next revision can have new checks.
func changesChecks(o Observed, k Compiled) bool {
	c := o.compareWithItself()
	g := c.AwaitingGate()
	return g != nil && !equality.Semantic.DeepEqual(g.Spec.ForProvider.Checks, k.checksOfStep(o.state))
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
		if g := dr.gateToCreate(d, s, name); g != nil {
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
			checks += len(dr.compiled.checksOfStep(next))
		}
		if checks > maxChecksAhead {
			return []ledger.State{s}
		}
		out = append(out, next)
	}
	return out
}

// gateToCreate returns the Gate to create for a state, or nil if there is nothing to judge or to ask.
func (dr decider) gateToCreate(d Decision, s ledger.State, name string) *rolloutv1alpha1.Gate {
	if d.Gates[name] != nil || s.Verdict != nil || !s.IsGated() || s.IsBeforeSteps() {
		return nil
	}
	g := compose.Gate(dr.in.Claim, s, d.ObservedSync, dr.in.Spec.GatesConfig, dr.compiled.checksOfStep(s))
	if c := dr.in.Spec.DeliveryConfig.Canary; g != nil && c != nil && s.HasTracks() && c.OnInconclusive == deploymentv1alpha1.InconclusiveHold {
		g.Spec.ForProvider.OnInconclusive = c.OnInconclusive
	}
	return g
}

// checksOfStep returns the checks of the step of a state, at all Sites that the step decides about. While two tracks get requests, these are the checks
// for canaries.
func (c Compiled) checksOfStep(s ledger.State) []rolloutv1alpha1.GateCheck {
	checks := c.checks
	if s.Current.Plan[s.Cursor.Step].SharesRequests() && c.desired.Placement.Track == s.Current.Track {
		checks = c.canaryChecks
	}
	return checks.At(ledger.Step{Sites: s.Current.SitesAt(s.Cursor.Step)})
}
