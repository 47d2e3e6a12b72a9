package phase

import (
	"cmp"
	"fmt"
	"slices"
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
		LiveRevision: f.liveRevision(),
		HeldBack:     f.HoldBack() != step.HoldNone,

		VerifiedRevision: f.Recorded.Stable,

		Update:   f.Update,
		Requests: f.Requests,
		Delivery: deliveryStatus(f),

		ValidationResults: validationResults(f),
		Rollback:          rollbackStatus(f),
		Canary:            canaryStatus(f),
	}
	if len(f.Understood) <= maxUnderstood {
		s.Understood = f.Understood
	}
	if f.State.Current != nil {
		s.Revision, s.Renderer = f.State.Current.Number, strconv.Itoa(int(f.State.Current.Request.Renderer))
		b := ptr.Deref(f.State.Current.Blueprint, ledger.BlueprintReference{})
		s.Blueprint = v1alpha1.BlueprintStatus{Name: b.Name, Digest: b.Digest}
	}
	s.Phase, s.Outcome, s.Message = projectPhase(f)
	s.Message = projection.Fit(s.Message, maxMessage)
	s.Transitions = Log(last, s, phasePathOf(f), now)
	return s
}

// Ended is true when the revision came to its end, be it good or bad, and nothing is left to do for it.
func Ended(f *Input) bool {
	return f.Problem == nil && (f.HasSucceeded() || f.HasRolledBack() || f.isRollbackStopped() && f.IsRecorded())
}

// End returns how a revision ended that came to its end, and words for it.
func End(f *Input) (rolloutv1alpha1.End, string) {
	switch {
	case f.State.IsVerified():
		return rolloutv1alpha1.EndVerified, projection.Sentences(verifiedMessage(f.State), runsNowMessage(f))
	case f.State.Restored:
		return rolloutv1alpha1.EndRolledBack, rolledBackMessage(f)
	case f.Holds.Progress == step.HoldNothingToRestore:
		return rolloutv1alpha1.EndNothingToRestore, stoppedMessage(f)
	}
	return rolloutv1alpha1.EndNotRolledBack, stoppedMessage(f)
}

// stoppedMessage says why a revision was rejected, and why it is not rolled back.
func stoppedMessage(f *Input) string {
	return projection.Sentences(rejectedMessage(f), f.holdMessage(f.Holds.Progress))
}

// verifiedMessage says that a revision was verified, and what decided about the Gate of its last step.
func verifiedMessage(s ledger.State) string {
	cause := ""
	switch {
	case s.IsGated() && s.IsGateReleased():
		cause = ": a user released its Gate"
	case s.IsGated():
		cause = ": its gates passed"
	}
	return fmt.Sprintf("Revision %d was verified%s.", s.Current.Number, cause)
}

// Ready is true when the desired state was reached, and holds now.
func Ready(f *Input) bool {
	return f.Problem == nil && f.SucceedsNow() && f.HoldBack() == step.HoldNone
}

// problemMessage returns the problem of a deployment, or says that nothing was ordered, as far as the ledger can be read.
func problemMessage(f *Input) string {
	if f.Problem == nil {
		return projection.Sentences(cmp.Or(f.LedgerUnreachable, "Nothing was ordered yet."), heldBackMessage(f))
	}
	return projection.Sentences(f.Problem.Message, continuesMessage(f))
}

// continuesMessage names the work that goes on while the spec cannot be compiled.
func continuesMessage(f *Input) string {
	if f.State.Current == nil {
		return ""
	}
	switch {
	case f.State.IsRejected() && f.State.Cursor.Attempt > 0 && !f.State.Restored && !f.isRollbackStopped():
		return fmt.Sprintf(" The rollback of revision %d goes on.", f.State.Current.Number)
	case f.Holds.Progress == step.HoldFrozen:
		return fmt.Sprintf(" Revision %d waits before its next step.", f.State.Current.Number)
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
		return fmt.Sprintf("The Sites ran revision %d again, and not all of them are known to run it now.", f.State.Target)
	}
	return fmt.Sprintf("The Sites run revision %d again.", f.State.Target)
}

// isRequestedRollback is true for a revision that was rolled back on request of a user.
func (f *Input) isRequestedRollback() bool {
	return f.HasRolledBack() && f.State.Verdict.Reason == rolloutv1alpha1.RejectedRequested
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
	if f.Policy.MaxRetries >= attempt {
		maximum = fmt.Sprintf(" of %d", f.Policy.MaxRetries)
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
	message, hold := "The revision is verified, once the ledger has recorded it.", trackHold(f)
	switch d, _ := f.Blocked(); {
	case d != nil && f.State.IsVerified() && !f.IsRecorded():
		message = projection.Sentences("The revision is verified, and the ledger has not recorded that yet.", deliveringMessage(f))
	case d != nil:
		message = deliveringMessage(f)
	case hold != step.HoldNone:
		message = f.holdMessage(hold)
	case f.State.Verdict == nil && f.State.IsGated():
		message = f.measuredMessage("every Site")
	}
	return projection.Sentences(message, heldBackMessage(f))
}

// updateMessage says which update waits.
func updateMessage(u v1alpha1.UpdateStatus) string {
	isNone := func(part string) bool { return strings.HasSuffix(part, " ") }
	parts := slices.DeleteFunc([]string{"Blueprint " + u.Blueprint, "renderer " + u.Renderer}, isNone)
	if len(parts) == 0 {
		return ""
	}
	return "An update waits: " + strings.Join(parts, ", ") + "."
}

// obstacleReason returns the reason and the message of a delivery that is blocked, a provider that does not respond, or a cluster that is not ready, in this
// order. Both are empty without an obstacle.
func obstacleReason(f *Input) (reason, message string) {
	switch d, ready := f.Blocked(); {
	case d != nil:
		reason = v1alpha1.ReasonDeliveryBlocked
		if f.HasConflict() {
			reason = v1alpha1.ReasonObjectConflict
		}
		return reason, fmt.Sprintf("GitDelivery %s: %s: %s", d.GetName(), ready.Reason, ready.Message)
	case len(f.Unobserving) > 0:
		return v1alpha1.ReasonProviderNotResponding, f.notRespondingMessage()
	case f.AwaitsCluster():
		return v1alpha1.ReasonWaitingForCluster, f.holdMessage(step.HoldClusterWaits)
	}
	return "", ""
}

// deliveringMessage says how far the revision, or its rollback, is on its way.
func deliveringMessage(f *Input) string {
	if _, message := obstacleReason(f); message != "" {
		return message
	}
	message, hold := "The revision is on its way to the repository.", trackHold(f)
	switch isLive := !f.State.IsRejected() && f.IsLive(); {
	case hold != step.HoldNone:
		message = f.holdMessage(hold)
	case isLive && f.State.IsGated():
		message = f.measuredMessage("every Site of the step")
	case isLive:
		message = f.runsAtMessage("every Site of the step") + "."
	case f.IsApplied():
		message = f.unprovenMessage()
	}
	return projection.Sentences(message, f.stepMessage())
}

// heldDeliveryMessage says how far the revision is on its way, and why it does not go on.
func heldDeliveryMessage(f *Input) string {
	return projection.Sentences(deliveringMessage(f), heldBackMessage(f))
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
	sites := deliveryStatus(f).Sites
	for _, t := range f.Trees() {
		if s := sites[t.Site]; s.State == v1alpha1.SiteWaitingForCluster {
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
