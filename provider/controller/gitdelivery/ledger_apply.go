package gitdelivery

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/state"
)

// ledgerOnly returns the decision that records the ledger and leaves the trees, or nothing if the ledger is recorded.
func (d *decision) ledgerOnly(f facts) decision {
	out := decision{reason: d.reason, message: d.message, hidesState: d.hidesState}
	return recordingLedger(f, out)
}

// recordLedger adds what the ledger has to learn to a draft, and nothing else.
func (t *task) recordLedger(draft *git.Draft) error {
	c := t.newCommit(commitMessage{}, t.timestamp())
	if err := t.writeLedgerFile(&c); err != nil {
		return err
	}
	if err := t.writeShared(&c); err != nil {
		return err
	}
	return draft.AddState(c)
}

// writeLedger adds the ledger, and the record of what it has come to in the repository, to a change.
func (t *task) writeLedger(c *git.Change) error {
	if err := t.writeLedgerFile(c); err != nil {
		return err
	}
	l := t.facts.ledger
	before := state.RecordFile{}
	if l.record != nil {
		before = *l.record
	}
	t.record = before.Record(t.entry, l.applied, t.facts.isHome())
	content, err := t.record.Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.RecordPath(t.entry.Claim)] = content
	return t.writeShared(c)
}

// writeLedgerFile adds the file of the ledger to a change, if events are to be recorded, or removes that of a home that was left.
func (t *task) writeLedgerFile(c *git.Change) error {
	c.State = map[string][]byte{}
	l, claim := t.facts.ledger, t.facts.marker.Claim
	if l.closes {
		c.State[state.LedgerPath(claim)] = nil
	}
	if len(l.events) == 0 {
		return nil
	}
	before := state.LedgerFile{}
	if l.file != nil {
		before = *l.file
	}
	before.Claim, before.ClusterUID = claim, t.clusterUID
	content, err := before.Append(l.next, l.eventsWithTime()).Encode()
	if err != nil {
		return t.stateTooLarge(err)
	}
	c.State[state.LedgerPath(claim)] = content
	return nil
}

// eventsWithTime returns the events with the time at which they are recorded.
func (l *ledgerFacts) eventsWithTime() []ledger.Event {
	out := make([]ledger.Event, len(l.events))
	for i, e := range l.events {
		at := timestampOf(l.now)
		e.At = &at
		out[i] = e
	}
	return out
}

// writeShared adds which cluster writes the state, and the numbers of other claims that were lost with it.
func (t *task) writeShared(c *git.Change) error {
	var err error
	for _, other := range t.facts.lostEntries {
		lost := state.RecordFile{Claim: other.Claim, ClusterUID: other.ClusterUID, LastNumber: lastNumberOf(&other)}
		if c.State[state.RecordPath(other.Claim)], err = lost.Encode(); err != nil {
			return err
		}
	}
	c.State[state.OwnerPath], err = state.EncodeOwner(t.clusterUID)
	return err
}

// recordLedgerAlone lets the ledger learn events whose push the server refused because of the trees: a revision that no repository lets in has a
// number, and so it can be rejected. What fails here is tried again.
func (e *external) recordLedgerAlone(ctx context.Context, d *v1alpha1.GitDelivery, refused error) {
	if !isRefusedTree(refused) || !e.facts.ledger.isUnrecorded() {
		return
	}
	t := e.newTask(d)
	t.stateOnly = true
	if err := e.repo.Deliver(ctx, t.queuedDelivery(t.planPush)); err != nil || t.decision.hidesState {
		return
	}
	e.facts.ledger = t.facts.ledger
	e.showLedger(d, true)
}

// isRefusedTree reports whether a server refused a push because of what is in it.
func isRefusedTree(err error) bool {
	c := failure.ClassOf(err)
	return c == failure.ClassPolicy || c == failure.ClassTooLarge
}

// closeLedger adds the end of a deleted delivery to a change: a closed ledger in the home, and what is left of the record elsewhere.
func (t *task) closeLedger(c *git.Change) error {
	l, claim := t.facts.ledger, t.facts.marker.Claim
	c.State = map[string][]byte{}
	c.Retain = map[string]git.Trees{state.TreesPath(claim): nil}
	l.events, l.closes = nil, false
	if next, err := ledger.Append(l.recorded, l.now, ledger.Event{Closed: &ledger.Closed{}}); err == nil {
		l.next, l.events = next, []ledger.Event{{Closed: &ledger.Closed{}}}
		if err := t.writeLedgerFile(c); err != nil {
			return err
		}
		c.State[state.RecordPath(claim)] = nil
		return nil
	}
	if l.record == nil {
		return nil
	}
	left := l.record.Tombstone()
	content, err := left.Encode()
	c.State[state.RecordPath(claim)] = content
	return err
}

// showRecorded shows a ledger that was recorded without trees, and why they were not written.
func (e *external) showRecorded(d *v1alpha1.GitDelivery) {
	e.showLedger(d, true)
	setUnready(d, e.now(), e.decision.reasonOrPushing(), e.decision.message)
}
