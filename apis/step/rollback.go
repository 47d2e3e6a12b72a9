package step

import (
	"iter"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// rollbackWindow is the time before a rejection in which the rejections count for Policy.MaxPerHour.
const rollbackWindow = time.Hour

// nextRollbackEvent returns the next event of a rejected revision: an attempt to roll back begins or ends. An attempt is recorded before anything is done
// for it, and an attempt that began comes to its end even if the policy changes.
func nextRollbackEvent(s ledger.State, in Input) (*ledger.Event, Hold) {
	switch {
	case s.Restored:
		return nil, HoldNone
	case s.Cursor.Attempt == 0:
		return beginRollback(s, in)
	case s.IsBeforeSteps() && (in.Proof.Failure == nil || in.nextStage(s) > s.Cursor.Stage):
		return in.advanceRollback(s)
	case in.Proof.IsLive && !s.IsBeforeSteps():
		return &ledger.Event{Restored: &ledger.Restored{}}, HoldNone
	case in.Proof.Failure == nil:
		return nil, HoldNone
	case s.Cursor.Attempt >= in.Policy.MaxRetries:
		return nil, HoldAttemptsSpent
	case !in.Policy.wantsRollback(s):
		return nil, HoldRollbackOff
	}
	return rollbackEvent(s.Target), HoldNone
}

// advanceRollback returns the next stage of a rollback with tracks. The last one restores trees, and waits for the holds of a rollback: that
// requests leave the rejected revision is part of the verdict.
func (in Input) advanceRollback(s ledger.State) (*ledger.Event, Hold) {
	e, hold := in.advanceStage(s)
	if e == nil || e.Advanced.Stage != ledger.StageSteps {
		return e, hold
	}
	if hold := in.holdRollback(s, s.PastRevision(s.Target)); hold != HoldNone && hold != HoldNothingToRestore {
		return nil, hold
	}
	return e, HoldNone // Where the directories hold the target already, it is still to be proven that the Sites run it.
}

func rollbackEvent(target int64) *ledger.Event {
	return &ledger.Event{RolledBack: &ledger.RolledBack{Target: target}}
}

// beginRollback returns the first attempt, or why there is none. A revision that shares requests loses them even while the rollback is held.
func beginRollback(s ledger.State, in Input) (*ledger.Event, Hold) {
	target := TargetOf(s)
	hold := in.holdRollback(s, target)
	if hold != HoldNone && !in.mustLoseRequests(s, target, hold) {
		return nil, hold
	}
	return rollbackEvent(target.Number), HoldNone
}

// holdRollback returns why a rollback does not begin, or does not come to its last stage.
func (in Input) holdRollback(s ledger.State, target *ledger.Past) Hold {
	if !in.Policy.wantsRollback(s) || in.Policy.MaxRetries == 0 {
		return HoldRollbackOff
	}
	if hold := in.holdForTarget(s, target); hold != HoldNone || isUserRollback(s) {
		return hold
	}
	return in.holdUnrequested(s, target)
}

// mustLoseRequests is true for a rejected revision that shares requests, or that began while another one did.
func (in Input) mustLoseRequests(s ledger.State, target *ledger.Past, hold Hold) bool {
	sharesRequests := s.Current.HasSteps() || s.Cursor.Stage < ledger.StageSteps
	return s.HasTracks() && target != nil && hold != HoldNothingToRestore && sharesRequests && !isUserRollback(s)
}

// wantsRollback is true if the policy or a user says to roll back.
func (p Policy) wantsRollback(s ledger.State) bool { return p.AutoRollback || isUserRollback(s) }

// isUserRollback is true for a revision by which a user rolled others back.
func isUserRollback(s ledger.State) bool { return s.Withdraws != 0 }

// isAbortedByUser is true for a revision that a user gave up.
func isAbortedByUser(s ledger.State) bool {
	return s.IsRejected() && s.Verdict.Reason == ledger.RejectedRequested
}

// TargetOf returns the rollback target of a rejected revision: the target of the attempts that began, or else the newest earlier revision that was
// verified and not withdrawn. It returns nil without such a revision.
func TargetOf(s ledger.State) *ledger.Past {
	for _, p := range s.Targets() {
		if s.Target == p.Number || s.Target == 0 && p.Number < s.Current.Number {
			return &p
		}
	}
	return nil
}

// holdForTarget returns why the changes of a rollback are unknown, or that it changes nothing.
func (in Input) holdForTarget(s ledger.State, target *ledger.Past) Hold {
	switch {
	case target != nil && len(in.replacedRevisions(*target)) > 0:
		return HoldNone
	case target == nil:
		return HoldNoTarget
	case !in.HasAllReported:
		return HoldNotRecorded
	case isUserRollback(s):
		return HoldNone // A user asked. The attempt changes nothing, and proves that the Sites run the target.
	}
	return HoldNothingToRestore
}

// holdsTarget is true if each directory that a target brought a tree to is known to hold it.
func (in Input) holdsTarget(target ledger.Past) bool {
	for d, tree := range in.restorableDirectories(target) {
		if !d.IsKnown || d.Tree != tree {
			return false
		}
	}
	return true
}

// restorableDirectories yields the directories of Sites that the deployment is for and that a target served, with the tree of the target. Both lists are in
// the order of Sites.
func (in Input) restorableDirectories(target ledger.Past) iter.Seq2[Directory, string] {
	return func(yield func(Directory, string) bool) {
		trees := target.Trees
		for _, d := range in.Directories {
			for len(trees) > 0 && trees[0].Site < d.Site {
				trees = trees[1:]
			}
			if len(trees) > 0 && trees[0].Site == d.Site && d.IsChosen && !yield(d, trees[0].ID) {
				return
			}
		}
	}
}

// holdUnrequested returns the hold of a rollback that no user asked for. An Abort asks for one, so that only irreversible content stops it: by
// RollbackTo alone a user accepts that.
func (in Input) holdUnrequested(s ledger.State, target *ledger.Past) Hold {
	if hold := in.holdIrreversible(s, *target); hold != HoldNone || isAbortedByUser(s) {
		return hold
	}
	return in.holdTooMany(s)
}

// holdIrreversible stops a rollback that changes, or may change, content that the Blueprint marks as irreversible. The revision says whether it changed
// any of that compared with the previous revision. For any other target it compares the digests of the marks, and where one is missing something may change.
func (in Input) holdIrreversible(s ledger.State, target ledger.Past) Hold {
	r := s.Current
	switch {
	case !r.Irreversible && (r.Marked == "" || target.Number == r.Number-1):
		return HoldNone
	case r.Marked == "" || r.Marked != target.Marked:
		return HoldIrreversible
	case !in.HasAllReported:
		return HoldNotRecorded
	}
	for _, number := range in.replacedRevisions(target) {
		if p := s.PastRevision(number); number != r.Number && (p == nil || p.Marked != target.Marked) {
			return HoldIrreversible
		}
	}
	return HoldNone
}

// replacedRevisions returns the revisions whose trees a rollback to a target replaces. The current one need not be the only one: its later steps did
// not reach the directories that a previous revision had changed.
func (in Input) replacedRevisions(target ledger.Past) []int64 {
	var out []int64
	for d, tree := range in.restorableDirectories(target) {
		if d.IsKnown && d.Tree != tree {
			out = append(out, d.Revision)
		}
	}
	return out
}

// holdTooMany counts the rejections in the hour before this one by the times at which they were recorded, so that no clock decides. A rejection
// that is not recorded yet waits for its time, where there were enough before it at any time.
func (in Input) holdTooMany(s ledger.State) Hold {
	limit := int(in.Policy.MaxPerHour)
	earlier, latest := rejectionTimes(s)
	isOutside := func(t time.Time) bool { return !t.After(latest.Add(-rollbackWindow)) || t.After(latest) }
	switch {
	case limit == 0 || len(earlier) < limit:
		return HoldNone
	case latest.IsZero():
		return HoldNotRecorded
	case len(slices.DeleteFunc(earlier, isOutside)) >= limit:
		return HoldTooManyRollbacks
	}
	return HoldNone
}

// rejectionTimes returns when revisions before the current one were rejected without a request, and when the current one was rejected. That is
// zero while the rejection is not recorded.
func rejectionTimes(s ledger.State) (earlier []time.Time, latest time.Time) {
	for _, p := range s.History {
		switch {
		case p.Number == s.Current.Number:
			latest = p.EndedAt.Time
		case p.Verdict != nil && p.Verdict.Result == ledger.VerdictRejected && p.Verdict.Reason != ledger.RejectedRequested:
			earlier = append(earlier, p.EndedAt.Time)
		}
	}
	return earlier, latest
}
