package phase

import (
	"fmt"

	"github.com/intentplane/intentplane/apis/step"
)

// stopMessage says to users why a rejected revision is not rolled back. It is empty if nothing stops the rollback.
func stopMessage(f *Input) string {
	switch f.Stop {
	case step.HoldRollbackOff:
		return "Rollback is off: spec.rollbackConfig.autoRollback is false."
	case step.HoldNotRecorded:
		return "Not every repository has reported that yet."
	case step.HoldNoTarget:
		return "No rollback target exists: no earlier revision was verified everywhere, or its trees are not retained."
	case step.HoldNothingToRestore:
		return "There is nothing to roll back: every directory holds the files of the last verified revision."
	case step.HoldIrreversible:
		return "It is not rolled back without a request: " + irreversibleMessage(f) + " A RolloutRequest with action RollbackTo rolls it back."
	case step.HoldTooManyRollbacks:
		return "Rollback limit reached: as many revisions were rejected in the hour before as spec.rollbackConfig.maxPerHour allows to be rolled back."
	case step.HoldAttemptsSpent:
		return fmt.Sprintf("All %d attempts of the rollback failed.", f.State.Cursor.Attempt)
	}
	return ""
}

// irreversibleMessage says why a rollback may change irreversible content.
func irreversibleMessage(f *Input) string {
	target := f.Target
	if f.State.Current.Marked != "" && target != nil && target.Marked == "" && target.Number != f.State.Current.Number-1 {
		return fmt.Sprintf("it is not known whether it changes objects that its Blueprint marks as irreversible, since the ledger does not have their digest in revision %d.", target.Number)
	}
	return "it changes, or may change, objects that its Blueprint marks as irreversible."
}
