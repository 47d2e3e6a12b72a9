package step

import "github.com/intentplane/intentplane/apis/ledger"

// judgeRevision returns the event that follows from the proof about a revision without a verdict: its verdict, or its next step.
func judgeRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	p := in.Proof
	switch {
	case in.isEditedBack(s):
		return &ledger.Event{Judged: &ledger.Judged{Verdict: editedBack()}}, HoldNone
	case s.IsBeforeSteps() && (p.Failure == nil || in.nextStage(s) > s.Cursor.Stage):
		return in.advanceStage(s)
	case p.Failure != nil:
		return &ledger.Event{Judged: &ledger.Judged{Verdict: *p.Failure}}, HoldNone
	case p.AwaitsCluster:
		return nil, HoldClusterWaits
	case !p.IsLive:
		return nil, HoldNone
	case !s.IsStepLeftOut():
		if hold, stays := in.HoldAtStep(s); stays {
			return nil, hold
		}
	}
	if s.IsAtLastStep() {
		verified := ledger.Verdict{Result: ledger.VerdictVerified}
		return &ledger.Event{Judged: &ledger.Judged{Verdict: verified, Trees: p.Trees}}, HoldNone
	}
	return advanceStep(s, in)
}

// HoldAtStep reports whether a step that is live has not come to its end, by the proof about its Gate and its pause, and why if something else than a
// measurement ends it. It reads nothing else of the input.
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

// isGateHeld is true for a step whose Gate came to no verdict, as long as no user released that Gate or left the step out.
func (in Input) isGateHeld(s ledger.State) bool {
	return in.Proof.IsHeld && s.IsGated() && !s.IsGateReleased() && !s.IsStepLeftOut()
}

// advanceStep returns the event of the next step, or why it does not begin.
func advanceStep(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case in.isFrozen():
		return nil, HoldFrozen
	case in.IsSuspended:
		return nil, HoldSuspended
	}
	return &ledger.Event{Advanced: &ledger.Advanced{Step: nextStep(s), Stage: s.Cursor.Stage}}, HoldNone
}

// isFrozen is true if the trees for the Sites of the next step can neither be rendered nor read from the objects.
func (in Input) isFrozen() bool { return in.Desired == nil && !in.HoldsFiles }

// nextStep returns the step that follows. Once a user released all steps, steps that share requests are left out, but for the last step: none follows it.
func nextStep(s ledger.State) int32 {
	next := s.Cursor.Step + 1
	for s.Cursor.Full && int(next) < len(s.Current.Plan)-1 && s.Current.Plan[next].SharesRequests() {
		next++
	}
	return next
}
