package gitdelivery

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

// fenceLedger returns the events to record, or a refusal. It refuses events after another head, and a copy older than the recorded position or head.
func (f facts) fenceLedger() (recording, *decision) {
	if f.holdsLedger() {
		return f.ledger.fenceHome(*f.spec.Ledger)
	}
	return f.ledger.fenceFollower(ledgerStateOf(f.spec.Copy))
}

// fenceHome accepts events only on top of the head that their writer read, and only if no other repository continues the ledger. A lost ledger first
// continues from the object's status: its writer then reads another head, and proposes its events again.
func (l ledgerFacts) fenceHome(requested v1alpha1.LedgerUpdate) (recording, *decision) {
	if l.isLost() {
		return l.recoverFromStatus()
	}
	head, unchanged := l.recorded.Head, recording{next: l.recorded}
	if requested.After != head {
		isFollowed := l.taken != nil && requested.LedTo(*l.taken)
		if isFollowed || requested.LedTo(head) {
			return recording{next: l.recorded, applied: l.recorded, isFollowed: isFollowed, knowsHead: !isFollowed}, nil // The events were recorded before.
		}
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.after: %s is not the head of the ledger in the repository, which is %s", describeHead(requested.After), describeHead(head))
	}
	next, err := ledger.Append(l.recorded, l.now, requested.Events...)
	if err != nil {
		return unchanged, l.refuseIllegal(err)
	}
	if len(requested.Events) > 0 && l.isBehindKnown(next) {
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s does not follow from %s, which another repository has", describeHead(next.Head), describeHead(l.known))
	}
	return recording{next: next, events: requested.Events, applied: next, knowsHead: true}, nil
}

// isBehindKnown is true for a state older than the newest head of another repository, and for a state of another ledger without a later epoch.
func (l ledgerFacts) isBehindKnown(next ledger.State) bool {
	isOther := l.known.Seq > 0 && l.known.Ledger != next.Ledger
	return next.Compare(l.known) < 0 || isOther && next.Epoch <= l.known.Epoch
}

// refuseIllegal refuses an event that may not follow the recorded state. If commits used numbers that no ledger has, the writer of the event may not have
// read them yet.
func (l ledgerFacts) refuseIllegal(err error) *decision {
	var illegal ledger.IllegalError
	if errors.As(err, &illegal) && l.recorded.Seq == 0 && l.recorded.LastNumber > 0 {
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s: commits of the repository speak of revision %d", err, l.recorded.LastNumber)
	}
	return refuse(v1alpha1.ReasonIllegal, "spec.forProvider.ledger.events: %s", err)
}

// isLost reports whether the repository lost the ledger, or was restored from a backup, while the object's status shows it. A ledger that moved continues
// in another home; a ledger that was moved by force continues elsewhere in a later epoch. The repository may follow that ledger and have closed its own: a
// status that was not written since still shows the closed ledger.
func (l ledgerFacts) isLost() bool {
	published, r := ledgerStateOf(l.shown), l.record
	if published.Seq == 0 || published.IsClosed || published.Successor != "" || l.known.Epoch > published.Epoch {
		return false
	}
	if l.recorded.Seq > 0 {
		return published.Supersedes(l.recorded)
	}
	return r == nil || r.Deleted || r.Head.Epoch <= published.Epoch
}

// recoverFromStatus continues a ledger from the state in the object's status.
func (l ledgerFacts) recoverFromStatus() (recording, *decision) {
	published, events := *l.shown, []ledger.Event(nil)
	if l.recorded.Seq == 0 || l.recorded.IsClosed || l.recorded.Successor != "" {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: l.identity, Home: published.Home}})
	}
	events = append(events, ledger.Event{Recovered: &ledger.Recovered{Copy: published, LastNumber: l.recorded.LastNumber}})
	next, err := ledger.Append(l.recorded, l.now, events...)
	if err != nil {
		return recording{next: l.recorded, recovers: true}, refuse(v1alpha1.ReasonIllegal, "cannot recover the ledger from the status: %s", err)
	}
	return recording{next: next, events: events, recovers: true},
		refuse(v1alpha1.ReasonOrderBehind, "the repository lost the ledger: it continues from the status of the GitDelivery, in epoch %d", next.Epoch)
}

// fenceFollower refuses a lower position than the recorded one, and an older copy of the ledger.
func (l ledgerFacts) fenceFollower(requested ledger.State) (recording, *decision) {
	out := recording{next: l.recorded}
	if requested.Seq == 0 {
		return out, refuse(v1alpha1.ReasonInvalid, "spec.forProvider.copy: a copy of a ledger has a seq above 0")
	}
	if r := l.record; r != nil && r.Head.Seq > 0 && !r.Deleted {
		if requested.Position().Compare(r.Position) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded", describePosition(requested.Position()), describePosition(r.Position))
		}
		if requested.Compare(r.Head) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded", describeHead(requested.Head), describeHead(r.Head))
		}
	}
	out.applied, out.closes = requested, l.file != nil && requested.Epoch > l.recorded.Epoch
	return out, nil
}

// fencePosition refuses trees of another position than the ledger reached by events that no spec contains.
func fencePosition(f facts) *decision {
	requested, applied := f.spec.AskedPosition(), f.recording.applied.Position()
	if !f.recording.isFollowed || requested == applied {
		return nil
	}
	return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.position: the trees belong to %s, and the ledger went on to %s", describePosition(requested), describePosition(applied))
}

// fenceDirectories refuses a tree if, at the recorded position, the directory has another tree than its writer read. One position may deliver several
// trees to a directory, one after another: an object from a backup requests an earlier tree.
func fenceDirectories(f facts) *decision {
	if !f.isAppliedByState() {
		return nil
	}
	for i, t := range f.spec.Trees {
		delivered, isKnown := f.deliveredTree(t.Branch, t.Path)
		if !isKnown || t.Action == v1alpha1.ActionKeep || t.After == "" || delivered.Tree == t.Tree || delivered.Tree == t.After {
			continue
		}
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.trees[%d].after: the directory has tree %s in this position, and not %s any more", i, delivered.Tree, t.After)
	}
	return nil
}

func describeHead(h ledger.Head) string {
	if h.Seq == 0 {
		return "no ledger"
	}
	return fmt.Sprintf("event %d of epoch %d", h.Seq, h.Epoch)
}

func describePosition(p ledger.Position) string {
	return fmt.Sprintf("epoch %d, revision %d, attempt %d, step %d, stage %d", p.Epoch, p.Revision, p.Attempt, p.Step, p.Stage)
}

// ledgerFacts are the facts about the ledger of a delivery. The other facts are about directories.
type ledgerFacts struct {
	// file of the ledger in the repository. Nil if there is none.
	file *state.LedgerFile
	// record of the repository. Nil if there is none.
	record *state.RecordFile
	// newer is the error for files that a newer version wrote and that must not be changed. Empty if there are none.
	newer string
	// recorded is the state of the ledger in the repository. Without a ledger, its last number is the highest revision in the trailers of commits.
	recorded ledger.State
	// taken is the head after the last events of a spec. Nil means the recorded head.
	taken *ledger.Head
	// known is the newest head of the ledger in another repository, by the status of its delivery or by the copy in the record. It is empty without
	// events to record.
	known ledger.Head
	// shown is the ledger in the object's status. Nil if the status has none.
	shown *ledger.State
	// now is the time of recorded events, and identity is the ID of a ledger that is opened again after a loss.
	now      time.Time
	identity string
	// obstacle is the lasting error that prevents a comparison of the directories. Nil if there is none.
	obstacle error
}

// A recording has the pending events of the ledger and their result.
type recording struct {
	// next is the state of the ledger after the recording. Without events it is the recorded state.
	next ledger.State
	// events are the events of the spec, and mandated the events by its mandate. taken is the state between them, if there are mandated events.
	events, mandated []ledger.Event
	taken            ledger.State
	// applied is the state that the trees belong to: the state of the ledger in the home, and the copy in each other repository.
	applied ledger.State
	// isFollowed is true if the events of the spec were recorded before, and the ledger has later events that no spec contains.
	isFollowed bool
	// knowsHead is true if the spec names the recorded head, or led to it: the next events of a mandate continue from that head.
	knowsHead bool
	// recovers is true while only the status has the ledger: the status must retain it until the repository has it again.
	recovers bool
	// closes is true for a follower that still has its ledger as a former home. The push that records a copy of the current ledger deletes it, and no earlier
	// push: until then the repository has no other state.
	closes bool
}

// isEmpty reports whether the recording has no events.
func (r recording) isEmpty() bool { return len(r.events)+len(r.mandated) == 0 }

// takenAfter returns the head after the last events of a spec once the recording is done, given the previous value. Nil means the recorded head.
func (r recording) takenAfter(previous *ledger.Head) *ledger.Head {
	switch {
	case len(r.mandated) == 0 && (!r.isEmpty() || r.closes):
		return nil
	case len(r.mandated) > 0 && (len(r.events) > 0 || r.knowsHead || previous == nil):
		return new(r.taken.Head)
	}
	return previous
}

// afterRecording returns the facts after the recording of the ledger.
func (f facts) afterRecording() facts {
	f.ledger.taken = f.recording.takenAfter(f.ledger.taken)
	f.ledger.recorded = f.recording.next
	if f.recording.closes {
		f.ledger.recorded = ledger.State{LastNumber: f.recording.next.LastNumber}
	}
	f.recording = recording{next: f.ledger.recorded, applied: f.recording.applied}
	return f
}

// holdsLedger reports whether the repository of the delivery holds the ledger.
func (f facts) holdsLedger() bool { return f.spec.Ledger != nil }

// shownRecord returns the record in the form of the status. It returns nil if there is none.
func (l ledgerFacts) shownRecord() *v1alpha1.LedgerRecord {
	r := l.record
	if r == nil || r.Deleted || r.Head.Seq == 0 {
		return nil
	}
	published := r.LedgerRecord
	return published.DeepCopy()
}

// isRemembered reports whether the state has an open ledger, or the record of a delivery that was not deleted.
func (l ledgerFacts) isRemembered() bool {
	isOpen := l.recorded.Seq > 0 && !l.recorded.IsClosed && l.recorded.Successor == ""
	return isOpen || l.record != nil && !l.record.Deleted && l.record.Head.Seq > 0
}

// describedState returns the state for the messages of commits: the applied state, or else the recorded state.
func (f facts) describedState() ledger.State {
	if f.recording.applied.Current != nil {
		return f.recording.applied
	}
	return f.ledger.recorded
}

// gatherSiblings returns the deliveries of the claim, the oldest first, for a home that may be about to record events, and for a repository that may
// follow the mandate of the home. It returns nil for each other delivery.
func (e *external) gatherSiblings(ctx context.Context, d *v1alpha1.GitDelivery, f facts) ([]v1alpha1.GitDelivery, error) {
	if !f.mayRecord() && !e.mayFollowHome(d, f) {
		return nil, nil
	}
	return e.deliveriesOf(ctx, f.spec.ClaimRef)
}

// mayRecord is true for a home that may be about to record.
func (f facts) mayRecord() bool {
	return f.holdsLedger() && (f.spec.Mandate != nil || f.ledger.mayRecord(*f.spec.Ledger))
}

// newestElsewhere returns the newest head of the ledger in another repository, if the home may be about to record events: a former home, from which the
// ledger was forced away, may come back with earlier events, and their recording would be void.
func (f facts) newestElsewhere(d *v1alpha1.GitDelivery) ledger.Head {
	newest, all := ledger.Head{}, f.siblings
	if !f.mayRecord() {
		return newest
	}
	if r := f.ledger.record; r != nil && !r.Deleted {
		newest = newerHead(newest, r.Copy)
	}
	for i := range all {
		// A closed ledger belongs to a deleted deployment of the same name.
		o := &all[i]
		if o.GetName() == d.GetName() || o.Spec.ForProvider.ClaimRef != f.spec.ClaimRef || ledgerStateOf(o.Status.AtProvider.Ledger).IsClosed {
			continue
		}
		if head := headOf(o); head.Compare(newest) > 0 {
			newest = head
		}
	}
	return newest
}

// headOf returns the newest head of the ledger in a delivery. A delivery that has reported no ledger, and requests events on top of a head, is a home that
// reported this head before its object was lost.
func headOf(d *v1alpha1.GitDelivery) ledger.Head {
	observed, requested := d.Status.AtProvider, d.Spec.ForProvider.Ledger
	head := newerHead(ledger.Head{}, observed.Ledger)
	if observed.Record != nil {
		head = newerHead(head, observed.Record.Copy)
	}
	if observed.Ledger == nil && requested != nil && requested.After.Compare(head) > 0 {
		return requested.After
	}
	return head
}

// mayRecord reports whether the spec requests events on top of the recorded head, or the status has a ledger that the repository may have lost.
func (l ledgerFacts) mayRecord(requested v1alpha1.LedgerUpdate) bool {
	return len(requested.Events) > 0 && requested.After == l.recorded.Head || ledgerStateOf(l.shown).Supersedes(l.recorded)
}

// newerHead returns the newer of a head and the head of a state, which may be nil.
func newerHead(h ledger.Head, s *ledger.State) ledger.Head {
	if s != nil && s.Compare(h) > 0 {
		return s.Head
	}
	return h
}
