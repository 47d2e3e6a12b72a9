package step

import "github.com/intentplane/intentplane/apis/ledger"

// nextRevision returns the event by which the next revision begins, or the event by which the current revision takes the digests of a request
// that renders the same trees. It returns why there is none.
func nextRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	d := in.Desired
	switch {
	case d == nil:
		return nil, HoldFrozen
	case in.awaitsPlacement(s):
		return nil, HoldVerdictWaits
	case s.Current == nil, d.hasOpenApproval(s), d.isRefusalOver(s):
		return beginRevision(s, in)
	case s.IsRejected() && d.hasIntentOf(*s.Current), d.Request == s.Current.Request:
		return nil, HoldNone
	case d.HasSameTrees && d.hasIntentOf(*s.Current):
		return &ledger.Event{Rebased: &ledger.Rebased{Request: d.Request, Blueprint: d.Blueprint}}, HoldNone
	case d.isRendererDeferred(s):
		return nil, d.RendererHold
	case d.VerdictIsComing && s.Verdict == nil && d.hasIntentOf(*s.Current):
		return nil, HoldVerdictWaits
	case s.Verdict == nil && s.Current.HasSteps() && in.HoldsFiles && d.hasIntentOf(*s.Current): // Else it could not go on.
		return nil, HoldVerdictWaits
	}
	return beginRevision(s, in)
}

// beginRevision returns the event by which the desired revision begins.
func beginRevision(s ledger.State, in Input) (*ledger.Event, Hold) {
	if in.IsSuspended {
		return nil, HoldSuspended
	}
	if !in.Desired.hasOpenApproval(s) {
		return orderRevision(s, *in.Desired, nil), HoldNone
	}
	return orderRevision(s, *in.Desired, in.Desired.ApprovedBy), HoldNone
}

// orderRevision returns the event of the next revision, which a RolloutRequest may have asked for.
func orderRevision(s ledger.State, d Desired, requestRef *ledger.RequestReference) *ledger.Event {
	r := ledger.Revision{
		Number: s.LastNumber + 1, Request: d.Request, Blueprint: d.Blueprint, Plan: d.Plan, Parts: d.Parts, RequestRef: requestRef,
		Track: d.Placement.Track, Stable: d.Placement.Stable, Workload: d.Workload.Digest,
	}
	if d.ReadMarks != nil {
		r.Marked, r.Irreversible = d.ReadMarks()
	}
	return &ledger.Event{Ordered: &ledger.Ordered{Revision: r, AdoptEnabled: d.AdoptEnabled}}
}

// hasIntentOf is true if the user's part of a revision is the desired one. Digests of two schemes cannot be compared: there it compares the trees.
func (d Desired) hasIntentOf(r ledger.Revision) bool {
	return d.Request.Intent == r.Request.Intent || d.Request.Scheme != r.Request.Scheme && d.HasSameTrees
}

// hasOpenApproval is true if a RolloutRequest that did not take effect yet approves the desired revision.
func (d Desired) hasOpenApproval(s ledger.State) bool {
	return d.ApprovedBy != nil && !isRequestTaken(s, d.ApprovedBy.UID)
}

// isRefusalOver is true if a repository refused the current revision because of files of other users, which may be overwritten now.
func (d Desired) isRefusalOver(s ledger.State) bool {
	return s.IsRejected() && d.AdoptEnabled && s.Verdict.Reason == ledger.RejectedDelivery && d.hasIntentOf(*s.Current)
}

// isRendererDeferred is true if only the renderer changed and has to wait. A revision that has steps or Sites left does not wait: the trees that those
// are to get can only be rendered by the new renderer.
func (d Desired) isRendererDeferred(s ledger.State) bool {
	return d.RendererHold != HoldNone && d.Request.HasNewerRenderer(s.Current.Request) && s.IsAtLastStep() && !d.AwaitsCluster
}
