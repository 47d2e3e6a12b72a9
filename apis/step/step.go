// Package step decides what happens next to a deployment: from the recorded state of its ledger and what is known now follows one event, or why
// none does. It is pure: it knows no object of Kubernetes, no repository and no clock.
package step

import "github.com/intentplane/intentplane/apis/ledger"

// Step returns the event that follows from a state, or nil and why none does. The event is legal on top of the state: ledger.Apply records it.
// The caller applies it and asks again, until none follows.
func Step(s ledger.State, in Input) (*ledger.Event, Holds) {
	if s.Successor != "" || s.IsClosed {
		return nil, Holds{} // Another ledger continues it.
	}
	if r := ChooseRequest(s, in); r != nil {
		if e := r.proposeEvent(s, in); e != nil {
			return e, Holds{}
		}
	}
	if in.isOutranked(s) {
		return nil, Holds{Start: HoldOutranked}
	}
	e, start := nextRevision(s, in)
	if e != nil || s.Current == nil {
		return e, Holds{Start: start}
	}
	e, held := progressRevision(s, in)
	if e != nil {
		return e, Holds{}
	}
	return nil, Holds{Start: start, Progress: held}
}

// progressRevision returns the event that the current revision goes on with, or why it does not.
func progressRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case s.IsRejected():
		return rollBack(s, in)
	case s.IsVerified():
		return removeOtherTrack(s, in)
	}
	return judgeRevision(s, in)
}

// isOutranked is true if a newer version of the function ordered the current revision: it alone knows which trees belong to it.
func (in Input) isOutranked(s ledger.State) bool {
	return s.Current != nil && (s.Current.Request.Scheme > in.Versions.Scheme || s.Current.Request.Renderer > in.Versions.Renderer)
}
