package gitdelivery

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/delivery/placeholder"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
)

// A task is a delivery in the queue of the repository. It shares no data with its reconcile, which may have ended before the turn of the task comes.
type task struct {
	external

	object *v1alpha1.GitDelivery
	// replaces is the tip with the observed change of another user. Empty if the commit restores nothing.
	replaces string
	// stateOnly is true for a task that records events and writes no directory.
	stateOnly bool
	// record of the repository after the delivery, once the delivery is planned.
	record state.RecordFile
}

func (e *external) newDeliveryTask(d *v1alpha1.GitDelivery) *task {
	t := &task{external: *e, object: d.DeepCopy()}
	t.gatherer = e.gatherer.ForQueue(t.object)
	if e.decision.Drifted {
		t.replaces = e.facts.Tip
	}
	return t
}

func (t *task) queuedDelivery(plan func(context.Context, *git.Draft) error) repository.Delivery {
	return repository.Delivery{
		Size:    t.object.Spec.ForProvider.FileBytes(),
		Object:  client.ObjectKeyFromObject(t.object),
		Version: fmt.Sprint(t.object.GetUID(), t.object.GetGeneration(), t.config.Generation, t.stateOnly) + t.facts.VersionByMandate(),
		Asked:   t.asked,
		IsAside: t.stateOnly,
		Plan:    plan,
	}
}

// An unbegunError reports a commit without an attempt: the start of the attempt is the date of the commit.
type unbegunError struct{}

// Error names the missing attempt.
func (*unbegunError) Error() string { return "cannot commit: no attempt was begun" }

// planPush decides the delivery on the snapshot of a draft, and adds it to the draft.
func (t *task) planPush(ctx context.Context, draft *git.Draft) error {
	if err := t.evaluateSnapshot(ctx, t.object, draft.Snapshot()); err != nil {
		return err
	}
	if t.stateOnly {
		t.decision = t.decision.LedgerOnly(t.facts)
	}
	if t.decision.Action == decision.ActionLedger {
		return t.recordLedger(draft)
	}
	if t.decision.Action == decision.ActionNone {
		return nil
	}
	if t.decision.Action == decision.ActionCommit && !t.facts.IsAttempting() {
		return &unbegunError{}
	}
	a := t.currentAttempt(t.object)
	c := t.newChange(a, t.replaces)
	if err := placeholder.Keep(ctx, draft.Snapshot(), &c, t.facts.EngineReads); err != nil {
		return err
	}
	commit, err := draft.Commit(ctx, c)
	if err != nil {
		return err
	}
	return t.recordDelivery(ctx, draft, c, commit, a)
}

// recordDelivery records the delivery in the state, whose record names the commit.
func (t *task) recordDelivery(ctx context.Context, draft *git.Draft, c git.Change, commit string, a *rolloutv1alpha1.Attempt) error {
	begun := a.DeepCopy()
	begun.EndedAt = nil
	targets, files := t.facts.TargetTrees()
	recordedDelivery := state.Delivery{
		Targets: targets, Applied: t.facts.Recording.Applied, IsHome: t.facts.HoldsLedger(), Attempt: begun, Commit: commit, At: t.commitDate(a),
		Trees: t.decision.Trees, Left: t.decision.Left, Former: t.decision.Former,
	}
	if t.decision.Action == decision.ActionCommit {
		recordedDelivery.Base = t.facts.TipBefore()
	}
	if commit == "" && t.facts.ShouldReapply() {
		recordedDelivery.Commit = t.facts.Tip // The rewritten history is valid from now on.
	}
	t.record = t.facts.BaseRecord().After(recordedDelivery)
	if t.record.Commit == "" {
		t.record.Commit = t.facts.Tip
	}
	if err := t.writeLedger(&c); err != nil {
		return err
	}
	var err error
	if c.Retain, err = t.retainedTrees(ctx, draft.Snapshot(), files); err != nil {
		return err
	}
	return draft.AddState(c)
}

// recordLedger adds the pending events of the ledger to a draft, and no directory.
func (t *task) recordLedger(draft *git.Draft) error {
	c := t.newCommit(message.Delivery{}, t.statusTimestamp())
	if err := t.writeLedgerFile(&c, t.facts.Recording); err != nil {
		return err
	}
	if err := t.writeShared(&c); err != nil {
		return err
	}
	return draft.AddState(c)
}

// writeLedger adds the ledger and the record of the repository to a change. The record of a follower has a copy of the ledger, and replaces the ledger of
// a former home.
func (t *task) writeLedger(c *git.Change) error {
	if err := t.writeLedgerFile(c, t.facts.Recording); err != nil {
		return err
	}
	content, err := t.record.Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.RecordPath(t.record.Claim)] = content
	if t.facts.Recording.Closes {
		c.State[state.LedgerPath(t.record.Claim)] = nil
	}
	return t.writeShared(c)
}

// writeLedgerFile adds the file of the ledger to a change, if events are to be recorded.
func (t *task) writeLedgerFile(c *git.Change, r decision.Recording) error {
	c.State = map[string][]byte{}
	l, claim := t.facts.Ledger, t.facts.Marker.Claim
	if r.IsEmpty() {
		return nil
	}
	previous := state.LedgerFile{}
	if l.File != nil {
		previous = *l.File
	}
	previous.Claim, previous.ClusterUID = claim, t.clusterUID
	content, err := r.AppendTo(previous, l.Now).Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.LedgerPath(claim)] = content
	return nil
}

// writeShared adds the UID of the cluster that writes the state, and the rebuilt records of other claims.
func (t *task) writeShared(c *git.Change) error {
	var err error
	for path, record := range t.facts.LostRecords {
		if c.State[path], err = record.Encode(); err != nil {
			return err
		}
	}
	c.State[state.OwnerPath], err = state.EncodeOwner(t.clusterUID)
	return err
}

// stateTooLarge returns the error, with the action for a user, for a file that could not be read back. The provider then writes neither the file nor the
// directories.
func (t *task) stateTooLarge(err error) error {
	message := err.Error()
	if n := len(t.decision.Left); n > 0 {
		message += fmt.Sprintf(". %d directories are left of earlier revisions, and go once one is verified: give Sites that moved their spec.repository.path back, "+
			"or choose fewer", n)
	}
	return &failure.Error{Class: failure.ClassTooLarge, Detail: message}
}
