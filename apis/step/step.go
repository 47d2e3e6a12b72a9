// Package step decides the next event in the ledger of a deployment, such as the next step, a verdict or a rollback, from the recorded state of the ledger and
// the present observations, or the reason why no event follows. It is pure: it knows no object of Kubernetes, no repository and no clock.
package step

import "github.com/intentplane/intentplane/apis/ledger"

// Step returns the event that follows from a state, or nil and why none does: the event of Begin, or else that of Conclude. The event is
// legal on top of the state: ledger.Apply records it. The caller applies it and asks again, until none follows.
func Step(s ledger.State, in Input) (*ledger.Event, Holds) {
	e, start := Begin(s, in)
	if e != nil {
		return e, Holds{}
	}
	e, progress := Conclude(s, in)
	if e != nil {
		return e, Holds{}
	}
	return nil, Holds{Start: start, Progress: progress}
}

// Begin returns the event by which a revision begins, takes other digests, or gets another home, or nil and why there is none. It needs the spec and the
// catalog. A request that concludes the current revision comes first: Begin waits for Conclude then.
func Begin(s ledger.State, in Input) (*ledger.Event, Hold) {
	if isLedgerOver(s) {
		return nil, HoldNone
	}
	if r := ChooseRequest(s, in); r != nil {
		if r.Action.actsOnCurrent() {
			return nil, HoldNone
		}
		if e := r.proposeEvent(s, in); e != nil {
			return e, HoldNone
		}
	}
	if in.isOutranked(s) {
		return nil, HoldOutranked
	}
	return nextRevision(s, in)
}

// Conclude returns the event by which the current revision goes on, is judged, or is rolled back, or nil and why there is none. It needs no spec and no catalog,
// but the proof about the revision's position.
func Conclude(s ledger.State, in Input) (*ledger.Event, Hold) {
	if isLedgerOver(s) || s.Current == nil {
		return nil, HoldNone
	}
	if r := ChooseRequest(s, in); r != nil && r.Action.actsOnCurrent() {
		return r.proposeEvent(s, in), HoldNone
	}
	if in.isOutranked(s) {
		return nil, HoldNone // Begin says so.
	}
	return progressRevision(s, in)
}

// isLedgerOver is true for a ledger that another one continues, or that was closed: nothing follows.
func isLedgerOver(s ledger.State) bool { return s.Successor != "" || s.IsClosed }

// actsOnCurrent is true for actions on the current revision. Other requests begin a revision, or move the ledger.
func (a Action) actsOnCurrent() bool {
	return a == ActionAbort || a == ActionRollbackTo || a == ActionPromote
}

// progressRevision returns the event that the current revision goes on with, or why it does not.
func progressRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case s.IsRejected():
		return nextRollbackEvent(s, in)
	case s.IsVerified():
		return removeOtherTrack(s, in)
	}
	return judgeRevision(s, in)
}

// isOutranked is true if a newer version of the function ordered the current revision: it alone knows which trees belong to it.
func (in Input) isOutranked(s ledger.State) bool {
	return s.Current != nil && (s.Current.Request.Scheme > in.Versions.Scheme || s.Current.Request.Renderer > in.Versions.Renderer)
}
