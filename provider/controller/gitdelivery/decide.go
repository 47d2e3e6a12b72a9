package gitdelivery

import (
	"cmp"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/state"
)

// An action is the kind of write that a delivery needs.
type action int

const (
	// actionNone writes nothing.
	actionNone action = iota
	// actionRecord writes the state only: the directories are as they should be.
	actionRecord
	// actionCommit writes directories, and the state.
	actionCommit
	// actionLedger records events in the ledger, and leaves the directories.
	actionLedger
)

// A decision is the result of decideDelivery: the action, and its directories and reason.
type decision struct {
	action action
	// reason why the delivery is not ready. Empty if the delivery is ready, or becomes ready by the action.
	reason  xpv2.ConditionReason
	message string
	// put are directories to write, remove directories to remove.
	put    map[string]tree.Files
	remove []string
	// sites of the directories to write.
	sites []string
	// trees are the desired trees after the action, and left are retained trees that the spec does not name any more.
	trees, left []state.Tree
	// former are directories of the claim that were left on former branches. Nothing writes there.
	former []state.Tree
	// asksForMore is true if the spec adds or changes trees at the same position.
	asksForMore bool

	// missing is the refusal for a missing Site, whose directory is retained while others are written. Nil if no Site is missing.
	missing *decision
	// drifted is true if another commit changed a delivered directory.
	drifted bool
	// hidesState is true if the status may not show the state: another cluster wrote it, or its writer is not known.
	hidesState bool
	// owner of the refused directory. Nil if the directory has no owner, or an unknown owner.
	owner *marker.Marker
}

func refuse(reason xpv2.ConditionReason, format string, args ...any) *decision {
	return &decision{reason: reason, message: fmt.Sprintf(format, args...)}
}

// hideState hides the state from the status.
func (d *decision) hideState() *decision {
	d.hidesState = true
	return d
}

// decideDelivery decides which events to record and which directories to write. It is pure, and returns the facts with the pending recording. An obstacle
// to writing the trees does not prevent the recording of the ledger.
func decideDelivery(f facts) (facts, decision) {
	for _, check := range []func(facts) *decision{checkClaim, checkState} {
		if refused := check(f); refused != nil {
			return f, *refused
		}
	}
	var refused *decision
	if f.recording, refused = f.recordEvents(); refused != nil && (!f.isAhead || !f.holdsLedger()) {
		return f, recordingLedger(f, *refused)
	}
	d := decideTrees(f)
	if refused != nil && d.action == actionNone && d.reason == "" {
		d = *refused
	}
	return f, recordingLedger(f, d)
}

// decideTrees decides about the directories, for the state of the ledger after the recording.
func decideTrees(f facts) decision {
	applied, obstacle := f.recording.applied, f.ledger.obstacle
	if refused := fencePosition(f); refused != nil {
		return *refused
	}
	if requested := f.spec.Position; requested != nil && *requested != applied.Position() {
		return *refuse(v1alpha1.ReasonInvalid, "spec.forProvider.position: the trees belong to %s, and the ledger is at %s", describePosition(*requested), describePosition(applied.Position()))
	}
	switch {
	case applied.Current == nil:
		return *refuse(v1alpha1.ReasonPushing, "the ledger has no revision yet")
	case f.spec.Position == nil && !f.holdsLedger():
		return *refuse(v1alpha1.ReasonPushing, "no position is asked for: the revision has not come to a Site of the repository")
	}
	if obstacle != nil {
		return *refuse(readyReasonOf(obstacle), "%s", remote.MessageOf(obstacle))
	}
	f, missing := f.withoutMissingSites()
	for _, check := range []func(facts) *decision{fenceDirectories, checkTrees, checkOwners, checkOverlaps} {
		if refused := check(f); refused != nil {
			return *refused
		}
	}
	d := decideDirectories(f)
	if d.missing = missing; missing != nil && d.action == actionNone && d.reason == "" {
		return *missing
	}
	return d
}

// recordingLedger turns a decision without an action into a recording of the ledger if there are events to record.
func recordingLedger(f facts, d decision) decision {
	if d.action == actionNone && !f.recording.isEmpty() && !d.hidesState {
		d.action = actionLedger
	}
	return d
}

// reasonOrPushing returns the reason of a decision, or Pushing.
func (d *decision) reasonOrPushing() xpv2.ConditionReason {
	return cmp.Or(d.reason, v1alpha1.ReasonPushing)
}

// decideDirectories compares the directories of the branch with the desired directories.
func decideDirectories(f facts) decision {
	d := decision{put: map[string]tree.Files{}}
	wanted := map[string]bool{}
	for _, t := range f.spec.Trees {
		wanted[t.Path] = true
		d.addDirectoryTree(f, t)
	}
	for _, path := range f.knownPaths() {
		if !wanted[path] && f.isRemovable(path) {
			d.leaveOrRemove(f, path)
		}
	}
	d.former = f.formerTrees(len(d.trees) + len(d.left))
	switch {
	case len(d.put)+len(d.remove) > 0:
		d.action = actionCommit
	case !f.isRecorded() || f.shouldReapply() || !d.hasTreesOf(*f.memory) || f.hasUnretainedTree():
		d.action = actionRecord
	}
	if d.action == actionCommit && f.hasDiverged() {
		return d.decideDiverged(f)
	}
	d.markDrifted(f)
	return d
}

// hasTreesOf is true if a record already has the directories of the decision.
func (d *decision) hasTreesOf(r state.RecordFile) bool {
	return equality.Semantic.DeepEqual(r.Trees, slices.Concat(d.trees, d.left)) && equality.Semantic.DeepEqual(r.Former, d.former)
}

// leaveOrRemove retains a directory that the trees do not name any more, or removes it. The removal waits until the delivery is settled, and so until the
// Sites run the replacement. A rejected revision never removes a directory.
func (d *decision) leaveOrRemove(f facts, path string) {
	if f.spec.Settled {
		d.remove = append(d.remove, path)
		return
	}
	d.left = append(d.left, f.lastKnownTree(path))
}

// onlyRemoves is true if the commit only removes directories that the trees do not name any more.
func (d *decision) onlyRemoves() bool {
	return d.action == actionCommit && len(d.put) == 0 && len(d.remove) > 0
}

// namingRemoved adds the names of the removed directories to a text, if the commit only removes directories.
func (d *decision) namingRemoved(text string) string {
	if !d.onlyRemoves() {
		return text
	}
	removed := "removing " + message.List(d.remove)
	if text == "" {
		return removed
	}
	return removed + ": " + text
}

// decideDiverged writes on top of a history that another user rewrote, if divergencePolicy allows it. The comparison uses trees and not commit ids: a
// rewritten history that holds the same directories does not stop the delivery.
func (d *decision) decideDiverged(f facts) decision {
	if f.shouldReapply() {
		return *d
	}
	cause := "its history was rewritten"
	if f.tip == "" {
		cause = "it was deleted"
	}
	return *refuse(v1alpha1.ReasonDiverged,
		"branch %q has lost the delivered commit: %s. The provider writes nothing until the branch has that commit again, or spec.git.divergencePolicy of the configuration is %s",
		f.branchName(), cause, configv1alpha1.DivergenceReapply)
}

// addDirectoryTree adds one directory of the spec to the decision.
func (d *decision) addDirectoryTree(f facts, t v1alpha1.Tree) {
	now := state.Tree{Branch: t.Branch}
	now.DeliveredTree = v1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: f.appliedPosition().Revision}
	delivered, isKnown := f.deliveredTree(t.Branch, t.Path)
	if t.Action == v1alpha1.ActionKeep {
		if isKnown {
			d.trees = append(d.trees, delivered)
		}
		return
	}
	if isKnown && delivered.Tree == now.Tree {
		now.Revision = delivered.Revision
	}
	now.Tracks = f.deliveredTracks(t, delivered)
	d.trees = append(d.trees, now)
	files, id := f.markedFiles(t)
	if f.dirs[t.Path].tree != id {
		// A directory that was retained until now, because the cluster of its Site was not ready, has not drifted.
		d.asksForMore = d.asksForMore || f.memory != nil && !f.rebuilt && (!isKnown || delivered.Tree != now.Tree)
		d.put[t.Path] = files
		d.sites = append(d.sites, t.Site)
	}
}

// putTrees returns the trees of the directories that are written.
func (d *decision) putTrees() []state.Tree {
	return slices.DeleteFunc(slices.Clone(d.trees), func(t state.Tree) bool {
		_, isPut := d.put[t.Path]
		return !isPut
	})
}

// markDrifted marks changes of delivered directories as drift, while the spec adds nothing and no attempt is in progress.
func (d *decision) markDrifted(f facts) {
	d.drifted = d.action == actionCommit && !d.onlyRemoves() && f.wasApplied() && !d.asksForMore
	if !d.drifted {
		return
	}
	d.reason, d.message = v1alpha1.ReasonDrifted, "another commit changed directories of the claim in the repository"
	if f.spec.DriftPolicy == v1alpha1.DriftReport {
		d.action = actionNone
		return
	}
	d.message += ": they are being restored"
}

func isTrue(b *bool) bool { return b != nil && *b }

// ledgerOnly returns a decision that records the ledger and leaves the trees, or has no action if the ledger has no pending events.
func (d *decision) ledgerOnly(f facts) decision {
	out := decision{reason: d.reason, message: d.message, hidesState: d.hidesState}
	return recordingLedger(f, out)
}
