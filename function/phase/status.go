package phase

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

const (
	shortCommit   = 7
	maxUnderstood = 32768
	maxMessage    = 2048
)

// Status projects facts. Last is the last status: nothing but its log of transitions is carried over.
func Status(f *Input, last *v1alpha1.IntentDeploymentStatus, now metav1.Time) *v1alpha1.IntentDeploymentStatus {
	s := &v1alpha1.IntentDeploymentStatus{
		IntentDigest: f.Digest,
		Understood:   understoodText(f),
		LiveRevision: f.liveRevision(),
		HeldBack:     f.isHeldBack(),

		VerifiedRevision: f.Recorded.Stable,

		Update:   f.Update,
		Requests: f.Requests,
		Delivery: deliveryStatus(f),

		ValidationResults: validationResults(f),
		Rollback:          rollbackStatus(f),
		Canary:            canaryStatus(f),
	}
	if f.State.Current != nil {
		s.Revision, s.Renderer = f.State.Current.Number, strconv.Itoa(int(f.State.Current.Request.Renderer))
		b := ptr.Deref(f.State.Current.Blueprint, ledger.BlueprintReference{})
		s.Blueprint = v1alpha1.BlueprintStatus{Name: b.Name, Digest: b.Digest}
	}
	s.Phase, s.Outcome, s.Message = phaseOf(f)
	s.Message = Fit(s.Message, maxMessage)
	s.Transitions = Log(last, s, phasePathOf(f), now)
	return s
}

// understoodText returns the canonical intent, or "" if it exceeds the limit.
func understoodText(f *Input) string {
	if len(f.Understood) > maxUnderstood {
		return ""
	}
	return f.Understood
}

// Fit shortens a message to the limit of the schema.
func Fit(message string, limit int) string { return projection.Fit(message, limit) }

// Ended is true when the revision came to its end, be it good or bad, and nothing is left to do for it.
func Ended(f *Input) bool {
	p, _, _ := phaseOf(f)
	return f.Problem == nil && (p == v1alpha1.PhaseSucceeded || p == v1alpha1.PhaseFailed && f.IsRecorded())
}

// End returns how a revision ended that came to its end, and words for it.
func End(f *Input) (rolloutv1alpha1.End, string) {
	switch {
	case f.State.IsVerified():
		return rolloutv1alpha1.EndVerified, projection.Sentences(verifiedMessage(f.State), runsNowMessage(f))
	case f.State.Restored:
		return rolloutv1alpha1.EndRolledBack, rolledBackMessage(f)
	case f.Stop == step.HoldNothingToRestore:
		return rolloutv1alpha1.EndNothingToRestore, projection.Sentences(rejectedMessage(f), stopMessage(f))
	}
	return rolloutv1alpha1.EndNotRolledBack, projection.Sentences(rejectedMessage(f), stopMessage(f))
}

// verifiedMessage says that a revision was verified, and whether gates measured it.
func verifiedMessage(s ledger.State) string {
	if s.IsGated() {
		return fmt.Sprintf("Revision %d was verified: its gates passed.", s.Current.Number)
	}
	return fmt.Sprintf("Revision %d was verified.", s.Current.Number)
}

// Ready is true when the desired state was reached, and holds now.
func Ready(f *Input) bool {
	p, _, _ := phaseOf(f)
	return p == v1alpha1.PhaseSucceeded && f.SucceedsNow() && !f.isHeldBack()
}

// problemMessage returns the problem of a deployment, or says that nothing was ordered.
func problemMessage(f *Input) string {
	if f.Problem == nil {
		return "Nothing was ordered yet."
	}
	return projection.Sentences(f.Problem.Message, continuesMessage(f))
}

// continuesMessage names the work that goes on while the spec cannot be compiled.
func continuesMessage(f *Input) string {
	if f.State.Current == nil {
		return ""
	}
	switch {
	case f.State.IsRejected() && f.State.Cursor.Attempt > 0 && !f.State.Restored && f.Stop == step.HoldNone:
		return fmt.Sprintf(" The rollback of revision %d goes on.", f.State.Current.Number)
	case f.State.Verdict == nil:
		return fmt.Sprintf(" Revision %d goes on as it is.", f.State.Current.Number)
	}
	return fmt.Sprintf(" Revision %d stays as it is.", f.State.Current.Number)
}

// restoredMessage says which revision runs again.
func restoredMessage(f *Input) string {
	switch {
	case f.State.Target == 0:
		return ""
	case !f.RunsEverywhere():
		return fmt.Sprintf(" The Sites ran revision %d again, and not all of them are known to run it now.", f.State.Target)
	}
	return fmt.Sprintf(" The Sites run revision %d again.", f.State.Target)
}

// isRequestedRollback is true for a revision that was rolled back on request of a user.
func (f *Input) isRequestedRollback() bool {
	return f.State.IsRejected() && f.State.Verdict.Reason == rolloutv1alpha1.RejectedRequested && f.State.Restored && f.IsRecorded()
}

// rolledBackMessage says which revision runs after a rollback, why, and how to go on.
func rolledBackMessage(f *Input) string {
	cause := rejectedMessage(f)
	if f.isRequestedRollback() {
		cause = projection.Sentences("A user asked for the rollback: " + f.State.Verdict.Message)
	}
	return projection.Sentences(cause, restoredMessage(f), continuationMessage(f), heldBackMessage(f))
}

// continuationMessage names the action of a user after a revision was rejected.
func continuationMessage(f *Input) string {
	return fmt.Sprintf("To go on, change the intent, or deliver it again: kubectl intent retry %s -n %s.", f.Claim.Name, f.Claim.Namespace)
}

// rollingBackMessage names the attempt that goes on, and its obstacle.
func rollingBackMessage(f *Input) string {
	if f.State.Restored {
		return projection.Sentences(rejectedMessage(f), restoredMessage(f), "The ledger has not recorded that yet.", heldBackMessage(f))
	}
	message := projection.Sentences(rejectedMessage(f), attemptMessage(f))
	if d, _ := f.Blocked(); d != nil || f.IsApplied() {
		message = projection.Sentences(message, deliveringMessage(f))
	}
	return projection.Sentences(message, heldBackMessage(f))
}

// attemptMessage says which attempt goes on, of how many, and to which revision where that is known.
func attemptMessage(f *Input) string {
	attempt, maximum, destination := f.State.Cursor.Attempt, "", ""
	if f.MaxAttempts >= attempt {
		maximum = fmt.Sprintf(" of %d", f.MaxAttempts)
	}
	if f.State.Target != 0 {
		destination = fmt.Sprintf(" to revision %d", f.State.Target)
	}
	return fmt.Sprintf("Attempt %d%s rolls back%s.", attempt, maximum, destination)
}

func rejectedMessage(f *Input) string {
	v := f.State.Verdict
	return strings.TrimSpace(fmt.Sprintf("Revision %d was rejected: %s. %s", f.State.Current.Number, v.Reason, projection.Sentence(v.Message)))
}

func succeededMessage(f *Input) string {
	return projection.Sentences(runsNowMessage(f), degradedMessage(f), heldBackMessage(f), updateMessage(f.Update))
}

// runsNowMessage says whether a revision that was verified is known to run still.
func runsNowMessage(f *Input) string {
	switch {
	case !f.RunsEverywhere():
		return "The revision was verified, and not every Site is known to run it now: " + deliveringMessage(f)
	case f.Sync == nil:
		return "The repository holds the revision."
	}
	return f.runsAtMessage("every Site") + "."
}

func validatingMessage(f *Input) string {
	if d, _ := f.Blocked(); d != nil {
		return projection.Sentences("The revision is verified, and the ledger has not recorded that yet.", deliveringMessage(f), heldBackMessage(f))
	}
	if m := canaryMessage(f); m != "" {
		return projection.Sentences(m, heldBackMessage(f))
	}
	if f.State.Verdict == nil && f.State.IsGated() {
		return projection.Sentences(f.measuredMessage("every Site"), heldBackMessage(f))
	}
	return "The revision is verified, once the ledger has recorded it." + heldBackMessage(f)
}

// updateMessage says which update waits.
func updateMessage(u v1alpha1.UpdateStatus) string {
	var parts []string
	if u.Blueprint != "" {
		parts = append(parts, "Blueprint "+u.Blueprint)
	}
	if u.Renderer != "" {
		parts = append(parts, "renderer "+u.Renderer)
	}
	if len(parts) == 0 {
		return ""
	}
	return " An update waits: " + strings.Join(parts, ", ") + "."
}

// heldBackMessage says why the current spec is not the ordered revision.
func heldBackMessage(f *Input) string {
	switch {
	case f.Suspended:
		return " A newer request is held back by spec.suspend."
	case f.Outranked:
		return " A newer version of the function ordered it, and this version leaves it alone."
	}
	return ""
}

func deliveringMessage(f *Input) string {
	if d, c := f.Blocked(); d != nil {
		return fmt.Sprintf("GitDelivery %s: %s: %s", d.GetName(), c.Reason, c.Message)
	}
	if len(f.Unobserving) > 0 {
		return f.notRespondingMessage()
	}
	if f.AwaitsCluster() {
		return f.clusterWaitMessage()
	}
	if m := canaryMessage(f); m != "" && !f.State.IsRejected() {
		return withStep(f, m)
	}
	if f.State.Current != nil && !f.State.IsRejected() && f.IsLive() && f.State.IsGated() {
		return projection.Sentences(f.measuredMessage("every Site of the step"), f.stepMessage())
	}
	if f.IsApplied() {
		return projection.Sentences(f.unprovenMessage(), f.stepMessage())
	}
	return "The revision is on its way to the repository." + f.stepMessage()
}

// notRespondingMessage says that the provider does not do its part.
func (f *Input) notRespondingMessage() string {
	return fmt.Sprintf("The provider does not respond: it has not observed the last change of %s. Check that it runs and is healthy (kubectl get providers.pkg.crossplane.io).",
		strings.Join(f.Unobserving[:min(len(f.Unobserving), maxNamed)], ", "))
}

// phasePathOf returns the facts that select the transitions to the current phase.
func phasePathOf(f *Input) phasePath {
	s, path := f.State, phasePath{failedIn: failedPhase(f)}
	if s.Current != nil {
		path.epoch = s.Epoch
	}
	if f.Problem == nil && s.IsRejected() {
		path.isRolledBack, path.rejected, path.target = s.Cursor.Attempt > 0 || s.Restored, s.Verdict.Reason, s.Target
	}
	return path
}

// clusterWaitMessage names the first Site, by name, that waits for its cluster, and says why.
func (f *Input) clusterWaitMessage() string {
	for _, t := range f.Trees() {
		if s := deliveryStatus(f).Sites[t.Site]; s.State == v1alpha1.SiteWaitingForCluster {
			return fmt.Sprintf("Site %q waits for its cluster: %s", t.Site, s.Message)
		}
	}
	return "A Site waits for its cluster."
}

// failedPhase is the phase in which a failure happened.
func failedPhase(f *Input) v1alpha1.Phase {
	switch {
	case f.Problem != nil:
		return f.Problem.Phase
	case f.State.IsRejected() && f.State.Verdict.Reason == rolloutv1alpha1.RejectedGateFailed && f.State.IsAtLastStep():
		return v1alpha1.PhaseValidating
	case f.State.Current != nil && (f.State.IsRejected() || f.HasConflict()):
		return v1alpha1.PhaseDelivering
	}
	return v1alpha1.PhasePending
}
