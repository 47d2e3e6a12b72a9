package step

import "github.com/intentplane/intentplane/apis/ledger"

// Rules is the version of the rules by which Conclude decides. It rises when other events of a kind that mandates list follow from the same state and input. A
// new kind needs no other version: a mandate and its echo list the kinds.
const Rules int32 = 1

// A Kind is a kind of event that Conclude returns, so that a mandate can list it. It says nothing about events of Begin.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type Kind string

// Kinds of events.
const (
	// KindReject rejects the current revision, because of the proof about it.
	KindReject Kind = "Reject"

	// KindRollBack begins an attempt to roll a rejected revision back, begins its stages, and ends it.
	KindRollBack Kind = "RollBack"

	// KindRequest ends the current revision as a RolloutRequest asks: Abort, or RollbackTo of a deployment without tracks.
	KindRequest Kind = "Request"

	// KindAdvance begins the next step or stage of a revision that is not rejected, or releases one step as a RolloutRequest asks.
	KindAdvance Kind = "Advance"

	// KindVerify verifies the current revision.
	KindVerify Kind = "Verify"
)

// Kinds returns all kinds of events.
func Kinds() []Kind { return []Kind{KindReject, KindRollBack, KindRequest, KindAdvance, KindVerify} }

// GoesForward is true for the kinds of events that begin a step, release one, or verify a revision. The other kinds bring nothing new to a Site.
func (k Kind) GoesForward() bool { return k == KindAdvance || k == KindVerify }

// KindOf returns the kind of an event that follows from a state, or "" for an event that needs the spec or the catalog: no mandate lists it. A user who
// releases all steps gets other files in the same position, and a spec brings them.
func KindOf(s ledger.State, e ledger.Event) Kind {
	switch {
	case e.Judged != nil:
		return kindOfVerdict(*e.Judged)
	case e.Withdrawn != nil:
		return kindOfWithdrawal(s, *e.Withdrawn)
	case e.RolledBack != nil, e.Restored != nil, e.Advanced != nil && s.IsRejected():
		return KindRollBack
	case e.Advanced != nil, e.Promoted != nil && !e.Promoted.Full:
		return KindAdvance
	}
	return ""
}

// kindOfWithdrawal returns the kind of a rollback that a user asked for. The receiver of the requests while a deployment in tracks goes back, or moves from or to
// tracks, follows from the spec.
func kindOfWithdrawal(s ledger.State, w ledger.Withdrawn) Kind {
	target := s.PastRevision(w.Target)
	if target == nil || !ledger.IsPlain(target.Track) || isAcrossMove(s, *target) {
		return ""
	}
	return KindRequest
}

// kindOfVerdict returns the kind of a verdict. A move that its user edits back is rejected because of the spec, and no RolloutRequest asked for it. Lost files
// are found by rendering.
func kindOfVerdict(j ledger.Judged) Kind {
	switch {
	case j.RequestRef != nil:
		return KindRequest
	case j.Verdict.Result == ledger.VerdictVerified:
		return KindVerify
	case j.Verdict.Reason == ledger.RejectedRequested, j.Verdict.Reason == ledger.RejectedFilesLost:
		return ""
	}
	return KindReject
}
