package deployment

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compose"
)

// revisionParts returns the deliveries that take part in the current revision, as they are observed, or as they are composed again.
func (dr decider) revisionParts(s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	return compose.Parts(dr.observed.deliveries, dr.wantedInPlace(s), *s.Current)
}

// wantedInPlace returns the deliveries from which a lost delivery is composed again while no new revision is ordered. For a rejected revision its directories
// alone are needed: without them it would be unknown whether it still gets requests. Any other revision needs its files, which the spec may not have any
// more.
func (dr decider) wantedInPlace(s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	if s.IsRejected() {
		return dr.compiled.deliveries
	}
	return nil
}

// withRenderedFiles returns the inputs of a directory, with the files of the revision as it is rendered now if no object has any: requests leave a track
// before its pods are removed only by a tree with the shared objects of the tracks. A move needs files that are not rendered any more.
func (x trackedState) withRenderedFiles(d directories.Directory) directories.Directory {
	if len(d.Own.Files)+len(d.Asked.Files) > 0 || x.isOwn || x.state.IsMove() || !x.isRendered() {
		return d
	}
	for _, delivery := range x.compiled.deliveries {
		if t, ok := delivery.Spec.ForProvider.TreeAt(d.Own.Branch, d.Own.Path); ok && t.Site == d.Own.Site {
			d.Own.Tree, d.Own.Files, d.Own.Encoding = t.Tree, t.Files, t.Encoding
		}
	}
	return d
}

// isRendered is true if the spec requests the current revision, in its track. A rollback needs the shared objects of the tracks, whatever track the revision
// would have now.
func (x trackedState) isRendered() bool {
	isInTrack := x.compiled.desired.Placement.Track == x.state.Current.Track
	return x.isRequestOf(x.state) && (isInTrack || x.state.Cursor.Attempt > 0)
}

// awaitsRendering is true while the rendered files are unknown, since rendering exceeded its timeout, and is retried.
func (x trackedState) awaitsRendering() bool {
	return x.compiled.Problem != nil && x.compiled.Problem.Retried
}

// hasLostFiles is true for a directory that a move cannot bring to its aim: the object that had its files was lost.
func (x trackedState) hasLostFiles(from directories.Directory, composed directories.TrackedTree) bool {
	stays := from.Aim.Keeps || from.Aim.IsUnknown || from.Held.Tree == "" || from.Own.Action == deliveryv1alpha1.ActionKeep
	return x.isOwn && x.state.IsMove() && x.state.Verdict == nil && !stays && composed.Action == deliveryv1alpha1.ActionKeep
}
