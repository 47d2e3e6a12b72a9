package step

import "github.com/intentplane/intentplane/apis/ledger"

// judgeRevision returns the next event of a revision without a verdict, by its proof: its verdict, or its next step. Without an event it returns the hold.
func judgeRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	p := in.Proof
	switch {
	case in.isEditedBack(s):
		return &ledger.Event{Judged: &ledger.Judged{Verdict: editedBackVerdict()}}, HoldNone
	case s.IsBeforeSteps() && (p.Failure == nil || in.nextStage(s) > s.Cursor.Stage):
		return in.advanceStage(s)
	case p.Failure != nil:
		return &ledger.Event{Judged: &ledger.Judged{Verdict: *p.Failure}}, HoldNone
	case p.AwaitsCluster:
		return nil, HoldClusterWaits
	case !p.IsLive:
		return nil, HoldNone
	case !s.IsStepLeftOut():
		if hold, isHeld := in.HoldAtStep(s); isHeld {
			return nil, hold
		}
	}
	if s.IsAtLastStep() {
		verified := ledger.Verdict{Result: ledger.VerdictVerified}
		return &ledger.Event{Judged: &ledger.Judged{Verdict: verified, Trees: p.Trees}}, HoldNone
	}
	return advanceStep(s, in)
}

// HoldAtStep reports whether the Gate or the pause of a live step still holds the revision at that step. The hold is HoldNone while the step waits for a
// measurement. HoldAtStep reads only the proof in the input.
func (in Input) HoldAtStep(s ledger.State) (Hold, bool) {
	isOpen, pause := s.IsGated() && !in.Proof.HasPassed && !in.Proof.IsHeld, s.PauseAfterStep()
	isPaused := pause != "" && !s.IsPauseReleased()
	switch {
	case in.isGateHeld(s):
		return HoldGateHeld, true
	case isOpen && !in.Proof.IsWatching:
		return HoldNone, true
	case isPaused && pause == ledger.PauseManual:
		return HoldAwaitsPromotion, true
	case isPaused && !in.Proof.IsPauseOver:
		return HoldPaused, true
	}
	return HoldNone, isOpen
}

// isGateHeld reports whether the Gate of a step is inconclusive, and no user has released that Gate or skipped the step.
func (in Input) isGateHeld(s ledger.State) bool {
	return in.Proof.IsHeld && s.IsGated() && !s.IsGateReleased() && !s.IsStepLeftOut()
}

// advanceStep returns the event of the next step, or the hold that prevents it.
func advanceStep(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case in.isStepFrozen():
		return nil, HoldFrozen
	case in.IsSuspended:
		return nil, HoldSuspended
	}
	return &ledger.Event{Advanced: &ledger.Advanced{Step: nextStep(s), Stage: s.Cursor.Stage}}, HoldNone
}

// isStepFrozen reports whether the trees for the Sites of the next step can neither be rendered nor read from the objects.
func (in Input) isStepFrozen() bool { return in.Desired == nil && !in.HoldsFiles }

// nextStep returns the next step of the plan. Once a user released all steps, it skips the steps that share requests, except for the last step.
func nextStep(s ledger.State) int32 {
	next := s.Cursor.Step + 1
	for s.Cursor.Full && int(next) < len(s.Current.Plan)-1 && s.Current.Plan[next].SharesRequests() {
		next++
	}
	return next
}
