package step

import (
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Result is the outcome of a RolloutRequest. The values are the API's.
type Result string

// Results of a RolloutRequest.
const (
	ResultWaiting          Result = "Waiting"
	ResultTaken            Result = "Taken"
	ResultDone             Result = "Done"
	ResultStale            Result = "Stale"
	ResultUnknownRevision  Result = "UnknownRevision"
	ResultAlreadyJudged    Result = "AlreadyJudged"
	ResultNoTarget         Result = "NoTarget"
	ResultNothingToRestore Result = "NothingToRestore"
	ResultUnknownStep      Result = "UnknownStep"
	ResultNoUpdate         Result = "NoUpdate"
	ResultUpdateFailed     Result = "UpdateFailed"
	ResultSameHome         Result = "SameHome"
	ResultNotSupported     Result = "NotSupported"

	ResultUnknownRepository Result = "UnknownRepository"
)

// actionsInOrder is the order in which requests about one revision are taken.
func actionsInOrder() []Action {
	return []Action{ActionAbort, ActionRollbackTo, ActionMoveLedger, ActionPromote, ActionApproveUpdate, ActionRetry}
}

// ChooseRequest returns the request that takes effect now: the first in the order of actions, and of two alike the older one. It returns nil if
// there is none.
func ChooseRequest(s ledger.State, in Input) *Request {
	for _, action := range actionsInOrder() {
		for i, r := range in.Requests {
			if r.Action == action && in.canTakeEffect(s, r) {
				return &in.Requests[i]
			}
		}
	}
	return nil
}

// ResultOf returns the outcome of a request. A request that could take effect now, and did not, waits.
func ResultOf(s ledger.State, in Input, r Request) Result {
	switch {
	case s.Current == nil:
		return ResultWaiting
	case isRequestTaken(s, r.Ref.UID) && !isAboutCurrent(s, r):
		return ResultStale // Another revision took the place of the revision that the request made or changed.
	case isRequestTaken(s, r.Ref.UID) && in.HasEnded:
		return ResultDone
	case isRequestTaken(s, r.Ref.UID):
		return ResultTaken
	}
	if refused := in.refuseRequest(s, r); refused != "" {
		return refused
	}
	return ResultWaiting
}

// isAboutCurrent is true for a request that made the current revision, or changed it. A request that names a later revision moved the ledger away from a home
// that alone may have known that revision.
func isAboutCurrent(s ledger.State, r Request) bool {
	requestRef := s.Current.RequestRef
	return r.Revision >= s.Current.Number || requestRef != nil && requestRef.UID == r.Ref.UID
}

// canTakeEffect is true for a request that may take effect now.
func (in Input) canTakeEffect(s ledger.State, r Request) bool {
	switch {
	case s.Current == nil, isRequestTaken(s, r.Ref.UID), in.refuseRequest(s, r) != "", r.Action == ActionMoveLedger && (in.AreTreesLost || r.ToConfigRef == ""):
		return false
	case r.Action == ActionRollbackTo && in.awaitsVerdictInTracks(s), r.UpdateResult == ResultWaiting:
		return false
	}
	return in.canBeginRevision(s) || isPossibleAlways(r.Action) || r.Action == ActionPromote && in.canContinue(s)
}

// awaitsVerdictInTracks is true for a revision in tracks whose verdict the home has not recorded. Another call may not find it again, and would need the files
// that a rollback on top of it takes out of the object.
func (in Input) awaitsVerdictInTracks(s ledger.State) bool {
	return s.HasTracks() && s.Verdict != nil && !in.IsRecorded
}

// isRequestTaken is true for a request that took effect, by its UID.
func isRequestTaken(s ledger.State, uid string) bool { return slices.Contains(s.Requests, uid) }

// canBeginRevision is true if nothing holds a new revision back.
func (in Input) canBeginRevision(s ledger.State) bool {
	return !in.IsSuspended && (in.Desired != nil && !in.isOutranked(s) || in.IsBlueprintGone)
}

// canContinue is true for a revision whose next step needs no spec: the objects hold its files.
func (in Input) canContinue(s ledger.State) bool {
	return !in.IsSuspended && !in.isStepFrozen() && !in.isOutranked(s)
}

// isPossibleAlways is true for actions that bring nothing new to any Site.
func isPossibleAlways(a Action) bool {
	return a == ActionAbort || a == ActionRollbackTo || a == ActionMoveLedger
}

// refuseRequest returns why a request that did not take effect never will. It is empty for a request that may.
func (in Input) refuseRequest(s ledger.State, r Request) Result {
	if refused := refuseOtherRevision(s, r); refused != "" {
		return refused
	}
	switch r.Action {
	case ActionAbort:
		return refuseJudged(s)
	case ActionRollbackTo:
		return in.refuseTarget(s, r.ToRevision)
	case ActionMoveLedger:
		return in.refuseLedgerMove(s, r)
	case ActionPromote:
		return in.refuseStepRelease(s, r)
	case ActionApproveUpdate:
		return in.refuseUpdate(s, r)
	case ActionRetry:
		return refuseOvertaken(s, r)
	}
	return ResultNotSupported
}

// refuseOtherRevision refuses a request whose user saw another revision than the current one, or the same with other digests. Every request is bound to that,
// regardless of its action. A ledger without a revision has none that a user could have seen.
func refuseOtherRevision(s ledger.State, r Request) Result {
	switch current := s.Current; {
	case current == nil, r.isForcedMove() && r.Revision == s.LastNumber+1:
		return "" // The status shows a revision before its home records it, and a home that is gone may have recorded it.
	case r.Revision > current.Number:
		return ResultUnknownRevision
	case r.Revision < current.Number, r.Digest != "" && r.Digest != current.Request.Digest():
		return ResultStale
	}
	return ""
}

// refuseOvertaken refuses a request to start the revision again that was made before another user gave the revision up: its user did not see that.
func refuseOvertaken(s ledger.State, r Request) Result {
	if !isAbortedByUser(s) || isUserRollback(s) {
		return ""
	}
	if _, rejectedAt := rejectionTimes(s); !rejectedAt.IsZero() && r.CreatedAt.Before(rejectedAt) {
		return ResultStale
	}
	return ""
}

func refuseJudged(s ledger.State) Result {
	if s.Verdict != nil {
		return ResultAlreadyJudged
	}
	return ""
}

func (in Input) refuseTarget(s ledger.State, number int64) Result {
	target := slices.IndexFunc(s.History, func(p ledger.Past) bool { return p.Number == number })
	switch {
	case number == s.Current.Number:
		return ResultNoTarget
	case target < 0:
		return ResultUnknownRevision
	case !slices.ContainsFunc(s.Targets(), func(p ledger.Past) bool { return p.Number == number }):
		return ResultNoTarget
	case number != s.Stable && isAcrossMove(s, s.History[target]):
		return ResultNoTarget // The files that would serve requests meanwhile are in no object any more: an edit of the claim moves it.
	case s.IsRejected() && s.Target == number, in.HasAllReported && in.holdsTarget(s.History[target]):
		return ResultNothingToRestore
	}
	return ""
}

// isAcrossMove is true for a target without tracks where the current revision, or the stable one beside it, has a track, and the other way round.
func isAcrossMove(s ledger.State, target ledger.Past) bool {
	isPlain := ledger.IsPlain(target.Track)
	stable := s.PastRevision(s.Stable)
	return isPlain != ledger.IsPlain(s.Current.Track) || stable != nil && isPlain != ledger.IsPlain(stable.Track)
}

// refuseLedgerMove refuses to move the ledger to where it is, to a repository that nothing is delivered to, since it is not known whether that can be reached,
// and after a newer request by force. The repositories of the deployment are not known while the spec cannot be compiled.
func (in Input) refuseLedgerMove(s ledger.State, r Request) Result {
	switch {
	case r.ToConfigRef == "" && in.Desired == nil:
		return ""
	case r.ToConfigRef == "":
		return ResultUnknownRepository
	case isForcedLater(s, in.Requests, r):
		return ResultStale
	case r.ToConfigRef == s.Home:
		return ResultSameHome
	}
	return ""
}

// isForcedLater is true for a request to move the ledger that is followed by one by force, which took effect or may: the older one would move the ledger away
// from where its user wants it, to a repository that may be gone. One about another revision moves nothing, unless it did before.
func isForcedLater(s ledger.State, requests []Request, r Request) bool {
	index := slices.IndexFunc(requests, func(candidate Request) bool { return candidate.Ref.UID == r.Ref.UID })
	return index >= 0 && slices.ContainsFunc(requests[index+1:], func(later Request) bool {
		return later.isForcedMove() && (isRequestTaken(s, later.Ref.UID) || refuseOtherRevision(s, later) == "")
	})
}

// refuseStepRelease refuses to release a step that waits for no user, and more than one pause at once: each Promote releases one. A request that was made before the
// Gate of the step came to no verdict decides nothing about it.
func (in Input) refuseStepRelease(s ledger.State, r Request) Result {
	switch {
	case s.Verdict != nil:
		return ResultAlreadyJudged
	case in.isGateHeld(s) && r.CreatedAt.Before(in.Proof.HeldAt):
		return ResultStale
	case in.releasesGate(s, r):
		return ""
	case r.Full && s.Cursor.Full:
		return ResultStale
	case r.Full && hasReleasable(s):
		return ""
	case r.Full, !in.isReleasable(s, r.Step):
		return ResultUnknownStep
	case s.Cursor.Full, r.Step <= max(s.Cursor.Step, s.Cursor.Promoted):
		return ResultStale
	}
	for step := max(s.Cursor.Step, s.Cursor.Promoted) + 1; step < r.Step; step++ {
		if in.isReleasable(s, step) {
			return ResultUnknownStep
		}
	}
	return ""
}

// isReleasable is true for a step that a pause or the Gate before it holds back. The number of steps stands for the verdict.
func (in Input) isReleasable(s ledger.State, step int32) bool {
	if step < 1 || int(step) > len(s.Current.Plan) {
		return false
	}
	return s.Current.Plan[step-1].Pause != "" || in.isGateHeld(s) && step == s.Cursor.Step+1
}

// releasesGate is true for a request that releases the Gate of the step: by the number of the step behind it, or with all steps.
func (in Input) releasesGate(s ledger.State, r Request) bool {
	return in.isGateHeld(s) && (r.Full || r.Step == s.Cursor.Step+1)
}

// hasReleasable is true if there is a pause to come, or a step that shares requests.
func hasReleasable(s ledger.State) bool {
	next := s.Current.Plan[min(int(s.Cursor.Step), len(s.Current.Plan)):]
	return slices.ContainsFunc(next, func(p ledger.Step) bool { return p.Pause != "" || p.SharesRequests() })
}

// refuseUpdate refuses a request that names another update. That there is none is only known while nothing holds the deployment back.
func (in Input) refuseUpdate(s ledger.State, r Request) Result {
	switch {
	case r.UpdateResult != "" && r.UpdateResult != ResultWaiting:
		return r.UpdateResult
	case in.canBeginRevision(s) && !in.HasUpdate:
		return ResultNoUpdate
	}
	return ""
}

// proposeEvent returns the event that a request makes, or nil if it makes none: an approved update begins once it is compiled.
func (r Request) proposeEvent(s ledger.State, in Input) *ledger.Event {
	switch r.Action {
	case ActionAbort:
		verdict := ledger.Verdict{Result: ledger.VerdictRejected, Reason: ledger.RejectedRequested, Message: r.verdictMessage()}
		return &ledger.Event{Judged: &ledger.Judged{Verdict: verdict, RequestRef: &r.Ref}}
	case ActionRollbackTo:
		return &ledger.Event{Withdrawn: &ledger.Withdrawn{Target: r.ToRevision, Message: r.verdictMessage(), RequestRef: r.Ref}}
	case ActionMoveLedger:
		return &ledger.Event{Moved: &ledger.Moved{Home: r.ToConfigRef, RequestRef: r.Ref}}
	case ActionPromote:
		return &ledger.Event{Promoted: &ledger.Promoted{Step: r.Step, Full: r.Full, Gate: in.releasesGate(s, r), RequestRef: r.Ref}}
	case ActionRetry: // It needs no approval of a newer renderer: no other renderer can make the trees, and an edit of the spec needs none either.
		if in.Desired == nil || in.awaitsPlacement(s) || in.awaitsEmptyTracks(s) {
			return nil
		}
		return orderRevision(s, *in.Desired, &r.Ref)
	case ActionApproveUpdate:
	}
	return nil
}

// verdictMessage says in a verdict which request asked for it, of whom and why.
func (r Request) verdictMessage() string {
	text := fmt.Sprintf("RolloutRequest %s", r.Ref.Name)
	if r.Ref.By != "" {
		text += " of " + r.Ref.By
	}
	if r.Ref.Reason != "" {
		text += ": " + r.Ref.Reason
	}
	return text
}
