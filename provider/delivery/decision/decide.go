package decision

import (
	"cmp"
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/state"
)

// An Action is the kind of write that a delivery needs.
type Action int

const (
	// ActionNone writes nothing.
	ActionNone Action = iota
	// ActionRecord writes the state only: the directories are as they should be.
	ActionRecord
	// ActionCommit writes directories, and the state.
	ActionCommit
	// ActionLedger records events in the ledger, and leaves the directories.
	ActionLedger
)

// A Decision is the result of Decide: the action, and its directories and reason.
type Decision struct {
	// Action to carry out.
	Action Action
	// Reason why the delivery is not ready. Empty if the delivery is ready, or becomes ready by the action.
	Reason  xpv2.ConditionReason
	Message string
	// Put are directories to write, and Remove are directories to remove.
	Put    map[string]tree.Files
	Remove []string
	// Sites of the directories to write.
	Sites []string
	// Trees are the desired trees after the action, and Left are retained trees that the spec does not name any more.
	Trees, Left []state.Tree
	// Former are directories of the claim that were left on former branches. Nothing writes there.
	Former []state.Tree
	// asksForMore is true if the spec adds or changes trees at the same position.
	asksForMore bool

	// Missing is the refusal for a missing Site, whose directory is retained while others are written. Nil if no Site is missing.
	Missing *Decision
	// Drifted is true if another commit changed a delivered directory.
	Drifted bool
	// HidesState is true if the status may not show the state: another cluster wrote it, or its writer is not known.
	HidesState bool
	// Owner of the refused directory. Nil if the directory has no owner, or an unknown owner.
	Owner *marker.Marker
}

func refuse(reason xpv2.ConditionReason, format string, args ...any) *Decision {
	return &Decision{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// hideState hides the state from the status.
func (d *Decision) hideState() *Decision {
	d.HidesState = true
	return d
}

// Decide decides which events to record and which directories to write. It is pure, and returns the facts with the pending recording. An obstacle
// to writing the trees does not prevent the recording of the ledger.
func Decide(f Facts) (Facts, Decision) {
	for _, check := range []func(Facts) *Decision{checkClaim, checkState} {
		if refused := check(f); refused != nil {
			return f, *refused
		}
	}
	var refused *Decision
	if f.Recording, refused = f.recordEvents(); refused != nil && (!f.IsAhead || !f.HoldsLedger()) {
		return f, recordingLedger(f, *refused)
	}
	d := decideTrees(f)
	if refused != nil && d.Action == ActionNone && d.Reason == "" {
		d = *refused
	}
	return f, recordingLedger(f, d)
}

// decideTrees decides about the directories, for the state of the ledger after the recording.
func decideTrees(f Facts) Decision {
	applied, obstacle := f.Recording.Applied, f.Ledger.Obstacle
	if refused := fencePosition(f); refused != nil {
		return *refused
	}
	if requested := f.Spec.Position; requested != nil && *requested != applied.Position() {
		return *refuse(v1alpha1.ReasonInvalid, "spec.forProvider.position: the trees belong to %s, and the ledger is at %s",
			describePosition(*requested), describePosition(applied.Position()))
	}
	switch {
	case applied.Current == nil:
		return *refuse(v1alpha1.ReasonPushing, "the ledger has no revision yet")
	case f.Spec.Position == nil && !f.HoldsLedger():
		return *refuse(v1alpha1.ReasonPushing, "no position is asked for: the revision has not come to a Site of the repository")
	}
	if obstacle != nil {
		return *refuse(condition.ReasonOf(obstacle), "%s", remote.MessageOf(obstacle))
	}
	f, missing := f.withoutMissingSites()
	for _, check := range []func(Facts) *Decision{fenceDirectories, checkTrees, checkOwners, checkOverlaps} {
		if refused := check(f); refused != nil {
			return *refused
		}
	}
	d := decideDirectories(f)
	if d.Missing = missing; missing != nil && d.Action == ActionNone && d.Reason == "" {
		return *missing
	}
	return d
}

// recordingLedger turns a decision without an action into a recording of the ledger if there are events to record.
func recordingLedger(f Facts, d Decision) Decision {
	if d.Action == ActionNone && !f.Recording.IsEmpty() && !d.HidesState {
		d.Action = ActionLedger
	}
	return d
}

// ReasonOrPushing returns the reason of a decision, or Pushing.
func (d *Decision) ReasonOrPushing() xpv2.ConditionReason {
	return cmp.Or(d.Reason, v1alpha1.ReasonPushing)
}

// decideDirectories compares the directories of the branch with the desired directories.
func decideDirectories(f Facts) Decision {
	d := Decision{Put: map[string]tree.Files{}}
	wanted := map[string]bool{}
	for _, t := range f.Spec.Trees {
		wanted[t.Path] = true
		d.addDirectoryTree(f, t)
	}
	for _, path := range f.knownPaths() {
		if !wanted[path] && f.isRemovable(path) {
			d.leaveOrRemove(f, path)
		}
	}
	d.Former = f.formerTrees(len(d.Trees) + len(d.Left))
	switch {
	case len(d.Put)+len(d.Remove) > 0:
		d.Action = ActionCommit
	case !f.isRecorded() || f.ShouldReapply() || !d.hasTreesOf(*f.Memory) || f.hasUnretainedTree():
		d.Action = ActionRecord
	}
	if d.Action == ActionCommit && f.hasDiverged() {
		return d.decideDiverged(f)
	}
	d.markDrifted(f)
	return d
}

// hasTreesOf is true if a record already has the directories of the decision.
func (d *Decision) hasTreesOf(r state.RecordFile) bool {
	return equality.Semantic.DeepEqual(r.Trees, slices.Concat(d.Trees, d.Left)) && equality.Semantic.DeepEqual(r.Former, d.Former)
}

// leaveOrRemove retains a directory that the trees do not name any more, or removes it. The removal waits until the delivery is settled, and so until the
// Sites run the replacement. A rejected revision never removes a directory.
func (d *Decision) leaveOrRemove(f Facts, path string) {
	if f.Spec.Settled {
		d.Remove = append(d.Remove, path)
		return
	}
	d.Left = append(d.Left, f.LastKnownTree(path))
}

// onlyRemoves is true if the commit only removes directories that the trees do not name any more.
func (d *Decision) onlyRemoves() bool {
	return d.Action == ActionCommit && len(d.Put) == 0 && len(d.Remove) > 0
}

// NamingRemoved adds the names of the removed directories to a text, if the commit only removes directories.
func (d *Decision) NamingRemoved(text string) string {
	if !d.onlyRemoves() {
		return text
	}
	removed := "removing " + message.List(d.Remove)
	if text == "" {
		return removed
	}
	return removed + ": " + text
}

// decideDiverged writes on top of a history that another user rewrote, if divergencePolicy allows it. The comparison uses trees and not commit ids: a
// rewritten history that holds the same directories does not stop the delivery.
func (d *Decision) decideDiverged(f Facts) Decision {
	if f.ShouldReapply() {
		return *d
	}
	cause := "its history was rewritten"
	if f.Tip == "" {
		cause = "it was deleted"
	}
	return *refuse(v1alpha1.ReasonDiverged,
		"branch %q has lost the delivered commit: %s. The provider writes nothing until the branch has that commit again, "+
			"or spec.git.divergencePolicy of the configuration is %s",
		f.BranchName(), cause, configv1alpha1.DivergenceReapply)
}

// addDirectoryTree adds one directory of the spec to the decision.
func (d *Decision) addDirectoryTree(f Facts, t v1alpha1.Tree) {
	now := state.Tree{Branch: t.Branch}
	now.DeliveredTree = v1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: f.AppliedPosition().Revision}
	delivered, isKnown := f.deliveredTree(t.Branch, t.Path)
	if t.Action == v1alpha1.ActionKeep {
		if isKnown {
			d.Trees = append(d.Trees, delivered)
		}
		return
	}
	if isKnown && delivered.Tree == now.Tree {
		now.Revision = delivered.Revision
	}
	now.Tracks = f.deliveredTracks(t, delivered)
	d.Trees = append(d.Trees, now)
	files, id := f.MarkedFiles(t)
	if f.Directories[t.Path].Tree != id {
		// A directory that was retained until now, because the cluster of its Site was not ready, has not drifted.
		d.asksForMore = d.asksForMore || f.Memory != nil && !f.Rebuilt && (!isKnown || delivered.Tree != now.Tree)
		d.Put[t.Path] = files
		d.Sites = append(d.Sites, t.Site)
	}
}

// PutTrees returns the trees of the directories that are written.
func (d *Decision) PutTrees() []state.Tree {
	return slices.DeleteFunc(slices.Clone(d.Trees), func(t state.Tree) bool {
		_, isPut := d.Put[t.Path]
		return !isPut
	})
}

// markDrifted marks changes of delivered directories as drift, while the spec adds nothing and no attempt is in progress.
func (d *Decision) markDrifted(f Facts) {
	d.Drifted = d.Action == ActionCommit && !d.onlyRemoves() && f.wasApplied() && !d.asksForMore
	if !d.Drifted {
		return
	}
	d.Reason, d.Message = v1alpha1.ReasonDrifted, "another commit changed directories of the claim in the repository"
	if f.Spec.DriftPolicy == v1alpha1.DriftReport {
		d.Action = ActionNone
		return
	}
	d.Message += ": they are being restored"
}

func isTrue(b *bool) bool { return b != nil && *b }

// LedgerOnly returns a decision that records the ledger and leaves the trees, or has no action if the ledger has no pending events.
func (d *Decision) LedgerOnly(f Facts) Decision {
	out := Decision{Reason: d.Reason, Message: d.Message, HidesState: d.HidesState}
	return recordingLedger(f, out)
}
