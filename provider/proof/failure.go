package proof

import (
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/workload"
)

// HasFailedObject is true for an engine that reports a failure of an object that it applied or attempted.
func (s SiteFacts) HasFailedObject() bool {
	return s.Engine.FinalFailure || s.Engine.MayHideFailure || s.Engine.Reason == v1alpha1.SiteReasonUnhealthy
}

// HasTried is true for an engine that applied or attempted a tree, and has no other tree of the claim to pass.
func (s SiteFacts) HasTried(tree string) bool {
	return s.Gap == (Gap{}) && (s.Applied.ID == tree || s.Attempted.ID == tree)
}

// judgeFailure ends the wait for a Site whose cluster declared a failure final, since the tree would not come to run until the timeout either.
func (f Facts) judgeFailure(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	if failure := f.pendingFailure(want, s, o); failure != nil && !f.Now.Before(failure.SettlesAt) {
		o.State, o.Reason, o.Message = v1alpha1.SiteFailed, failure.Reason, failure.Message
	}
	return o
}

// failureSettlesAt returns the time when a final failure of a Site counts that does not yet. It is zero without such a failure.
func (f Facts) failureSettlesAt(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) time.Time {
	if failure := f.pendingFailure(want, s, o); failure != nil {
		return failure.SettlesAt
	}
	return time.Time{}
}

// pendingFailure returns a final failure of the tree that a Site waits for, of its engine or of an object in its cluster, or nil.
func (f Facts) pendingFailure(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) *workload.FinalFailure {
	if o.State != v1alpha1.SiteSyncing || f.movesRequests(want) {
		return nil
	}
	if stall := f.pendingStall(want, s, o); stall != nil {
		return stall
	}
	if s.Failure == nil || s.Engine.IsUncompared || !s.HasTried(want.Tree) || s.Failure.IsOlderThan(f.PositionStart().Time) {
		return nil
	}
	return s.Failure
}

// pendingStall returns that an engine gave up its own object, or nil. It counts for an engine that reads just this directory, and that gave up after the wait
// for the Site began: an administrator may have stalled another one, and an engine whose Site was live ends no step.
func (f Facts) pendingStall(want v1alpha1.SiteTree, s SiteFacts, o v1alpha1.SiteObservation) *workload.FinalFailure {
	if o.Reason != v1alpha1.SiteReasonStalled || s.Engine.Root != want.Path || !s.StalledSince.After(f.waitStartTime(want.Name).Time) {
		return nil
	}
	return workload.NewFinalFailure(o.Reason, o.Message, s.StalledSince)
}
