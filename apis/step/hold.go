package step

// Hold is why no event follows. Conditions are a table over it.
type Hold string

// Holds of the next revision.
const (
	// HoldNone means that no event is held: no event is due, or the current step or attempt has not ended.
	HoldNone Hold = ""

	// HoldFrozen means that the spec cannot be compiled, so that no revision begins.
	HoldFrozen Hold = "Frozen"

	// HoldSuspended means that spec.suspend holds back a new revision or step.
	HoldSuspended Hold = "Suspended"

	// HoldOutranked means that a newer version of the function made the current revision.
	HoldOutranked Hold = "Outranked"

	// HoldRendererWaits means that only the renderer changed, and that the deployment's slot has not come.
	HoldRendererWaits Hold = "RendererWaits"

	// HoldApprovalWaits means that only the renderer changed, and that a user has to approve updates.
	HoldApprovalWaits Hold = "ApprovalWaits"

	// HoldVerdictWaits means that the catalog changed, and that the verdict on the current revision comes first.
	HoldVerdictWaits Hold = "VerdictWaits"
)

// Holds of the current revision.
const (
	// HoldClusterWaits means that a Site receives no files before its cluster is ready.
	HoldClusterWaits Hold = "ClusterWaits"

	// HoldAwaitsPromotion means that a user has to release the next step.
	HoldAwaitsPromotion Hold = "AwaitsPromotion"

	// HoldPaused means that the pause behind the step is not over.
	HoldPaused Hold = "Paused"

	// HoldGateHeld means that the Gate of the step came to no verdict, and that a user has to release the step.
	HoldGateHeld Hold = "GateHeld"

	// HoldDraining means that requests leave a track, which has to be proven before anything else changes there.
	HoldDraining Hold = "Draining"

	// HoldRollbackOff means that rollbackConfig does not roll back, and that no user asked for it.
	HoldRollbackOff Hold = "RollbackOff"

	// HoldNotRecorded means that a repository has not reported the trees of its directories, or when the rejection was recorded.
	HoldNotRecorded Hold = "NotRecorded"

	// HoldNoTarget means that no revision can be rolled back to.
	HoldNoTarget Hold = "NoTarget"

	// HoldNothingToRestore means that each directory holds the tree of the target.
	HoldNothingToRestore Hold = "NothingToRestore"

	// HoldIrreversible means that the rollback may change content that the Blueprint marks as irreversible.
	HoldIrreversible Hold = "Irreversible"

	// HoldTooManyRollbacks means that rollbackConfig.maxPerHour was reached.
	HoldTooManyRollbacks Hold = "TooManyRollbacks"

	// HoldAttemptsSpent means that each of the attempts failed.
	HoldAttemptsSpent Hold = "AttemptsSpent"
)

// Holds are why no event follows.
type Holds struct {
	// Start is why the next revision does not begin.
	Start Hold

	// Progress is why the current revision does not go on.
	Progress Hold
}
