package gitdelivery

import (
	"context"
	"fmt"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/message"
	"github.com/intentplane/intentplane/provider/delivery/placeholder"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/instant"
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
	t.readTrees, t.openOther = maps.Clone(e.readTrees), nil
	if e.asRead != nil {
		home := *t.object
		e.asRead.Status.DeepCopyInto(&home.Status)
		t.asRead = &home
	}
	if e.decision.drifted {
		t.replaces = e.facts.tip
	}
	return t
}

func (t *task) queuedDelivery(plan func(context.Context, *git.Draft) error) repository.Delivery {
	return repository.Delivery{
		Size:    t.object.Spec.ForProvider.FileBytes(),
		Object:  client.ObjectKeyFromObject(t.object),
		Version: fmt.Sprint(t.object.GetUID(), t.object.GetGeneration(), t.config.Generation, t.stateOnly) + t.facts.versionByMandate(),
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
		t.decision = t.decision.ledgerOnly(t.facts)
	}
	if t.decision.action == actionLedger {
		return t.recordLedger(draft)
	}
	if t.decision.action == actionNone {
		return nil
	}
	if t.decision.action == actionCommit && !t.facts.isAttempting() {
		return &unbegunError{}
	}
	a := t.currentAttempt(t.object)
	c := t.newChange(a, t.replaces)
	if err := t.facts.keepPlaces(ctx, draft.Snapshot(), &c); err != nil {
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
	targets, files := t.facts.targetTrees()
	recordedDelivery := state.Delivery{
		Targets: targets, Applied: t.facts.recording.applied, IsHome: t.facts.holdsLedger(), Attempt: begun, Commit: commit, At: t.commitDate(a),
		Trees: t.decision.trees, Left: t.decision.left, Former: t.decision.former,
	}
	if t.decision.action == actionCommit {
		recordedDelivery.Base = t.facts.tipBefore()
	}
	if commit == "" && t.facts.shouldReapply() {
		recordedDelivery.Commit = t.facts.tip // The rewritten history is valid from now on.
	}
	t.record = t.facts.baseRecord().After(recordedDelivery)
	if t.record.Commit == "" {
		t.record.Commit = t.facts.tip
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
	if err := t.writeLedgerFile(&c, t.facts.recording); err != nil {
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
	if err := t.writeLedgerFile(c, t.facts.recording); err != nil {
		return err
	}
	content, err := t.record.Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.RecordPath(t.record.Claim)] = content
	if t.facts.recording.closes {
		c.State[state.LedgerPath(t.record.Claim)] = nil
	}
	return t.writeShared(c)
}

// writeLedgerFile adds the file of the ledger to a change, if events are to be recorded.
func (t *task) writeLedgerFile(c *git.Change, r recording) error {
	c.State = map[string][]byte{}
	l, claim := t.facts.ledger, t.facts.marker.Claim
	if r.isEmpty() {
		return nil
	}
	previous := state.LedgerFile{}
	if l.file != nil {
		previous = *l.file
	}
	previous.Claim, previous.ClusterUID = claim, t.clusterUID
	content, err := r.appendTo(previous, l.now).Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.LedgerPath(claim)] = content
	return nil
}

// appendTo returns the file of the ledger after the recording.
func (r recording) appendTo(file state.LedgerFile, now time.Time) state.LedgerFile {
	if len(r.mandated) == 0 {
		return file.Append(r.next, withTime(r.events, now))
	}
	if len(r.events) > 0 {
		file = file.Append(r.taken, withTime(r.events, now))
	}
	if r.knowsHead {
		file.Taken = nil
	}
	return file.AppendMandated(r.next, withTime(r.mandated, now))
}

// withTime returns events with the time of their recording.
func withTime(events []ledger.Event, now time.Time) []ledger.Event {
	out := make([]ledger.Event, len(events))
	for i, e := range events {
		e.At = instant.Timestamp(now)
		out[i] = e
	}
	return out
}

// writeShared adds the UID of the cluster that writes the state, and the rebuilt records of other claims.
func (t *task) writeShared(c *git.Change) error {
	var err error
	for path, record := range t.facts.lostRecords {
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
	if n := len(t.decision.left); n > 0 {
		message += fmt.Sprintf(". %d directories are left of earlier revisions, and go once one is verified: give Sites that moved their spec.repository.path back, "+
			"or choose fewer", n)
	}
	return &failure.Error{Class: failure.ClassTooLarge, Detail: message}
}

// keepPlaces adds a placeholder to the directories of Sites that a change empties.
func (f facts) keepPlaces(ctx context.Context, s *git.Snapshot, c *git.Change) error {
	return placeholder.Keep(ctx, s, c, f.engineReads)
}

// engineReads is true for a directory of a Site that has an engine. It is false for a deleted Site.
func (f facts) engineReads(dir string) bool {
	return f.sites[f.siteOfDirectory(dir)].HasEngine()
}
