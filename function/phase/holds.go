package phase

import (
	"fmt"
	"sync"

	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/projection"
)

// A holdRow is a row of the table of holds: it says how users see why no event follows.
type holdRow struct {
	// conditionType, isTrue and reason are those of the condition that names the hold.
	conditionType string
	isTrue        bool
	reason        string

	// phase of a deployment by the hold. It is empty for a hold that leaves the phase as it is.
	phase v1alpha1.Phase

	// canary is the state of a revision in tracks. It is empty for a hold of any revision.
	canary v1alpha1.CanaryState

	// says returns the message. It names no times: status.canary has them.
	says func(*Input) string
}

// holdTable has a row for each hold but four: the problem of the spec shows HoldFrozen, status.update shows HoldRendererWaits and HoldApprovalWaits, and
// HoldVerdictWaits ends by itself. Nothing writes into it.
var holdTable = sync.OnceValue(func() map[step.Hold]holdRow { //nolint:gochecknoglobals // It is made once: each call needs it several times.
	waiting := func(reason string, state v1alpha1.CanaryState, says func(*Input) string) holdRow {
		return holdRow{conditionType: v1alpha1.TypeReconciling, isTrue: true, reason: reason, canary: state, says: says}
	}
	stopped := func(reason string, says func(*Input) string) holdRow {
		return holdRow{conditionType: v1alpha1.TypeRolledBack, reason: reason, phase: v1alpha1.PhaseFailed, says: says}
	}
	return map[step.Hold]holdRow{
		step.HoldSuspended:    {conditionType: v1alpha1.TypeReconciling, reason: v1alpha1.ReasonSuspended, says: suspendedMessage},
		step.HoldOutranked:    waiting(v1alpha1.ReasonProgressing, "", fixedMessage("A newer version of the function ordered it, and this version leaves it alone.")),
		step.HoldClusterWaits: {conditionType: v1alpha1.TypeDelivered, reason: v1alpha1.ReasonWaitingForCluster, says: (*Input).clusterWaitMessage},

		step.HoldPaused: waiting(v1alpha1.ReasonPaused, v1alpha1.CanaryPaused, fixedMessage("The step is live, and pauses.")),
		step.HoldAwaitsPromotion: waiting(v1alpha1.ReasonAwaitingPromotion, v1alpha1.CanaryAwaitingPromotion, func(f *Input) string {
			return "The step is live, and waits until a user releases the next one: " + promoteCommand(f) + "."
		}),
		step.HoldGateHeld: waiting(v1alpha1.ReasonHeld, v1alpha1.CanaryHeld, func(f *Input) string {
			return "The Gate of the step came to no conclusion. A user releases the step, or gives the revision up: " + promoteCommand(f) + ", or kubectl intent abort."
		}),
		step.HoldDraining: waiting(v1alpha1.ReasonDraining, v1alpha1.CanaryDraining, drainingMessage),

		step.HoldNotRecorded: {
			conditionType: v1alpha1.TypeRolledBack, reason: v1alpha1.ReasonNotRecorded, says: fixedMessage("Not every repository has reported that yet."),
		},
		step.HoldRollbackOff: stopped(v1alpha1.ReasonRollbackOff, rollbackOffMessage),
		step.HoldNoTarget: stopped(v1alpha1.ReasonNoTarget, fixedMessage("No rollback target exists: no earlier revision was verified everywhere, or its trees are not "+
			"retained.")),
		step.HoldNothingToRestore: stopped(v1alpha1.ReasonNothingToRestore, fixedMessage("There is nothing to roll back: every directory holds the files of the last "+
			"verified revision.")),
		step.HoldIrreversible: stopped(v1alpha1.ReasonIrreversible, irreversibleMessage),
		step.HoldTooManyRollbacks: stopped(v1alpha1.ReasonTooManyRollbacks, fixedMessage("Rollback limit reached: as many revisions were rejected in the hour before as "+
			"spec.rollbackConfig.maxPerHour allows to be rolled back.")),
		step.HoldAttemptsSpent: stopped(v1alpha1.ReasonAttemptsSpent, attemptsSpentMessage),
	}
})

// fixedMessage returns a message that depends on nothing.
func fixedMessage(message string) func(*Input) string {
	return func(*Input) string { return message }
}

// holdMessage says why no event follows. It is empty for a hold that the table does not have.
func (f *Input) holdMessage(hold step.Hold) string {
	if row, ok := holdTable()[hold]; ok {
		return row.says(f)
	}
	return ""
}

// holdCondition returns the condition that names a hold.
func (f *Input) holdCondition(hold step.Hold) Condition {
	row := holdTable()[hold]
	return projection.Is(row.conditionType, row.isTrue, row.reason, f.holdMessage(hold))
}

// isRollbackStopped is true for a rejected revision whose rollback does not begin, or does not go on.
func (f *Input) isRollbackStopped() bool {
	return holdTable()[f.Holds.Progress].phase == v1alpha1.PhaseFailed
}

// HoldBack returns the hold that keeps the current spec from being ordered, or the ordered revision from its next step. HoldNone means that nothing does.
func (f *Input) HoldBack() step.Hold {
	for _, hold := range []step.Hold{f.Holds.Start, f.Holds.Progress} {
		if hold == step.HoldSuspended || hold == step.HoldOutranked {
			return hold
		}
	}
	return step.HoldNone
}

// heldBackMessage says why the spec has no effect. It is empty if nothing holds it back.
func heldBackMessage(f *Input) string { return f.holdMessage(f.HoldBack()) }

// suspendedMessage says whether spec.suspend holds back a revision or a step.
func suspendedMessage(f *Input) string {
	subject := "A newer request"
	switch {
	case f.State.Current == nil:
		subject = "The first revision"
	case f.Holds.Start != step.HoldSuspended:
		subject = "The next step"
	}
	return subject + " is held back by spec.suspend."
}

// rollbackOffMessage names the field that switches rollbacks off. A user who asks for one is stopped by the number of attempts alone.
func rollbackOffMessage(f *Input) string {
	if f.Policy.AutoRollback || f.State.Withdraws != 0 {
		return "Rollback is off: spec.rollbackConfig.maxRetries is 0."
	}
	return "Rollback is off: spec.rollbackConfig.autoRollback is false."
}

// attemptsSpentMessage says how many attempts failed.
func attemptsSpentMessage(f *Input) string {
	if f.State.Cursor.Attempt == 1 {
		return "The only attempt of the rollback failed."
	}
	return fmt.Sprintf("All %d attempts of the rollback failed.", f.State.Cursor.Attempt)
}

// irreversibleMessage says why a rollback may change irreversible content.
func irreversibleMessage(f *Input) string {
	cause := "it changes, or may change, objects that its Blueprint marks as irreversible."
	target := step.TargetOf(f.State)
	if f.State.Current.Marked != "" && target != nil && target.Marked == "" && target.Number != f.State.Current.Number-1 {
		cause = fmt.Sprintf("it is not known whether it changes objects that its Blueprint marks as irreversible, since the ledger does not have their digest in revision %d.", target.Number)
	}
	return "It is not rolled back without a request: " + cause + " A RolloutRequest with action RollbackTo rolls it back."
}

// promoteCommand returns the command that releases a step.
func promoteCommand(f *Input) string {
	return fmt.Sprintf("kubectl intent promote %s -n %s", f.Claim.Name, f.Claim.Namespace)
}

// drainingMessage says which pods stay until their requests have ended.
func drainingMessage(f *Input) string {
	if f.State.IsRejected() {
		return "The requests have left the revision, whose pods stay until these have ended."
	}
	if f.State.IsVerified() {
		return "The revision was verified, and gets all requests. The pods of the revision before it stay until their requests have ended."
	}
	return fmt.Sprintf("Requests go back to revision %d, before the revision begins.", f.State.Current.Stable)
}
