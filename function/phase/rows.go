package phase

import (
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// A Row of the table of phases.
type Row struct {
	// Known describes the state of a deployment when the row holds, in words.
	Known string

	// Phase and Outcome of the deployment.
	Phase   v1alpha1.Phase
	Outcome v1alpha1.Outcome

	holds func(*Input) bool
	says  func(*Input) string
}

// Rows returns the table of phases: the first row that holds gives the phase. The last row always does.
func Rows() []Row {
	rows := append([]Row{{
		Known: "the spec cannot be compiled",
		Phase: v1alpha1.PhaseFailed, Outcome: v1alpha1.OutcomeFailed,
		holds: func(f *Input) bool { return f.Problem != nil && f.Problem.Terminal },
		says:  problemMessage,
	}, {
		Known: "an object that the spec names is missing, or the ledger has no revision yet",
		Phase: v1alpha1.PhasePending,
		holds: func(f *Input) bool { return f.Problem != nil || f.State.Current == nil },
		says:  problemMessage,
	}}, rejectedRows()...)
	return append(rows, progressRows()...)
}

// rejectedRows returns the rows of a rejected revision. Only a success waits for the record.
func rejectedRows() []Row {
	return []Row{{
		Known: "the revision was rejected, the Sites run the target again, and the ledger has recorded that",
		Phase: v1alpha1.PhaseSucceeded, Outcome: v1alpha1.OutcomeRolledBack,
		holds: (*Input).HasRolledBack,
		says:  rolledBackMessage,
	}, {
		Known: "the revision was rejected, and no attempt of a rollback has begun, or all attempts failed",
		Phase: v1alpha1.PhaseFailed, Outcome: v1alpha1.OutcomeFailed,
		holds: func(f *Input) bool {
			return f.State.IsRejected() && !f.State.Restored && (f.State.Cursor.Attempt == 0 || f.isRollbackStopped())
		},
		says: func(f *Input) string { return projection.Sentences(stoppedMessage(f), heldBackMessage(f)) },
	}, {
		Known: "the revision was rejected, and an attempt of its rollback is in progress, or succeeded and is not recorded yet",
		Phase: v1alpha1.PhaseRollingBack,
		holds: func(f *Input) bool { return f.State.IsRejected() },
		says:  rollingBackMessage,
	}}
}

// progressRows returns the rows of a revision that was not rejected.
func progressRows() []Row {
	return []Row{{
		Known: "the revision was verified, and the ledger has recorded that",
		Phase: v1alpha1.PhaseSucceeded, Outcome: v1alpha1.OutcomeSucceeded,
		holds: (*Input).HasSucceeded,
		says:  succeededMessage,
	}, {
		Known: "the revision was verified, or runs at its last step and is judged",
		Phase: v1alpha1.PhaseValidating,
		holds: func(f *Input) bool {
			return f.State.IsVerified() || f.State.IsAtLastStep() && (f.IsLive() || f.IsMeasured())
		},
		says: validatingMessage,
	}, {
		Known: "another deployment delivers an object of the revision to the same Site; the phase changes once that deployment no longer delivers it",
		Phase: v1alpha1.PhaseFailed, Outcome: v1alpha1.OutcomeFailed,
		holds: (*Input).HasConflict,
		says:  heldDeliveryMessage,
	}, {
		Known: "in all other cases: the commit is being pushed, or not all Sites of the step run it, or an earlier step is judged",
		Phase: v1alpha1.PhaseDelivering,
		holds: func(*Input) bool { return true },
		says:  heldDeliveryMessage,
	}}
}

// firstMatchingRow returns the first row that holds, or none.
func firstMatchingRow(rows []Row, f *Input) Row {
	for _, r := range rows {
		if r.holds(f) {
			return r
		}
	}
	return Row{}
}

// projectPhase returns the phase of facts, with the outcome and its message.
func projectPhase(f *Input) (v1alpha1.Phase, v1alpha1.Outcome, string) {
	r := firstMatchingRow(Rows(), f)
	return r.Phase, r.Outcome, r.says(f)
}

// rejectedPhase returns the phase of a rejected revision, also while the spec cannot be carried out. It is empty for another revision.
func (f *Input) rejectedPhase() v1alpha1.Phase { return firstMatchingRow(rejectedRows(), f).Phase }

// isRollingBack is true while a rejected revision is rolled back. Conditions that become true meanwhile are reported when the rollback ends.
func (f *Input) isRollingBack() bool { return f.rejectedPhase() == v1alpha1.PhaseRollingBack }
