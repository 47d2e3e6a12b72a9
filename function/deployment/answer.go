package deployment

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
)

// buildOutput returns the output of a call from its stages, without the resources.
func buildOutput(in Input, o Observed, k Compiled, d Decision) *Output {
	status := statusInput(in, o, k, d)
	status.Requests = requestResults(&status, in, o, k)
	joined := o.recheck.mergeRecheck(k.recheck)
	return &Output{
		Needs:      slices.Clone(k.needs),
		Status:     phase.Status(&status, &in.Status, in.Now),
		Conditions: phase.Conditions(&status),
		Ready:      phase.Ready(&status),
		Dated:      joined.isDated,
		Wait:       joined.wait,
		Stages:     k.timer.stages,
		Passing:    isTransientStatus(status, d.left),
		Recording:  o.isRecordingVerdict(in.Status, status, d.left),
	}
}

// isTransientStatus is true for the status of a revision whose next step is requested, or left to the provider, about which the home of the ledger will report: the
// next call writes the final status.
func isTransientStatus(f phase.Input, left step.Kind) bool {
	s := f.State
	if s.Current == nil || !s.Current.HasSteps() || s.Verdict != nil || s.Current.Number != f.Recorded.Position().Revision {
		return false
	}
	isRequested := s.Cursor.Step > 0 && !f.IsRecorded()
	return (isRequested || left == step.KindAdvance) && isUnhindered(f)
}

// isUnhindered is true for a status without an obstacle that a user has to see.
func isUnhindered(f phase.Input) bool {
	blocked, _ := f.Blocked()
	return blocked == nil && f.Problem == nil && f.LedgerUnreachable == "" && len(f.Unobserving) == 0 && f.HoldBack() == step.HoldNone && !f.AwaitsCluster()
}

// isRecordingVerdict is true for a revision that is verified as soon as the home of the ledger records it, while the home has no report about that yet.
// Last is the published status: it is about the revision.
func (o Observed) isRecordingVerdict(last deploymentv1alpha1.IntentDeploymentStatus, f phase.Input, left step.Kind) bool {
	s := f.State
	isRequested := s.IsVerified() && !f.IsRecorded() && !o.hasSeenEvents()
	if !isRequested && left != step.KindVerify || s.Current.Number != f.Recorded.Position().Revision {
		return false
	}
	isShown := last.Revision == s.Current.Number && last.IntentDigest == f.Digest
	return isShown && isUnhindered(f)
}

// hasSeenEvents reports whether the provider has seen events that it did not record: that takes longer than usual.
func (o Observed) hasSeenEvents() bool {
	for _, d := range o.deliveries {
		if len(ledgerhome.PendingEvents(d)) > 0 && d.GetCondition(xpv2.TypeReady).ObservedGeneration >= d.GetGeneration() {
			return true
		}
	}
	return false
}

// statusInput returns the input of the status.
func statusInput(in Input, o Observed, k Compiled, d Decision) phase.Input {
	return phase.Input{
		Claim: in.Claim, Digest: o.specDigest, GatesDisabled: !*in.Spec.GatesConfig.Enabled, Policy: rollbackPolicy(in), Unobserving: o.unobserving,
		Compilation: k.Compilation, Decision: d.Decision, Comparison: d.Comparison,
	}
}
