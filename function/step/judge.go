package step

import "github.com/intentplane/intentplane/apis/ledger"

// PauseManual is a pause that lasts until a user releases the next step.
const PauseManual = "Manual"

// judgeRevision returns the event that follows from what is proven of a revision without a verdict: its verdict, or its next step.
func judgeRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	p := in.Proof
	switch {
	case p.Failure != nil:
		return &ledger.Event{Judged: &ledger.Judged{Verdict: *p.Failure}}, HoldNone
	case p.AwaitsCluster:
		return nil, HoldClusterWaits
	case !p.IsLive, s.IsGated() && !p.HasPassed:
		return nil, HoldNone
	case s.IsAtLastStep():
		verified := ledger.Verdict{Result: ledger.VerdictVerified}
		return &ledger.Event{Judged: &ledger.Judged{Verdict: verified, Trees: p.Trees}}, HoldNone
	}
	return advanceStep(s, in)
}

// advanceStep returns the event of the next step, or why it does not begin.
func advanceStep(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case awaitsPromotion(s):
		return nil, HoldAwaitsPromotion
	case in.Desired == nil:
		return nil, HoldFrozen // What the Sites of the step are to get cannot be rendered.
	case in.IsSuspended:
		return nil, HoldSuspended
	}
	return &ledger.Event{Advanced: &ledger.Advanced{Step: s.Cursor.Step + 1, Stage: s.Cursor.Stage}}, HoldNone
}

// awaitsPromotion is true if a user has to release the next step and did not.
func awaitsPromotion(s ledger.State) bool {
	return hasPauseBefore(s, s.Cursor.Step+1) && !s.Cursor.Full && s.Cursor.Promoted <= s.Cursor.Step
}

// hasPauseBefore is true for a step of the plan that waits until a user releases it. No other step can be promoted.
func hasPauseBefore(s ledger.State, step int32) bool {
	return step > 0 && int(step) < len(s.Current.Plan) && s.Current.Plan[step-1].Pause == PauseManual
}
