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

// fenceLedger returns what is to be recorded, or why not. It refuses what follows another head, or is older than what is recorded.
func (f facts) fenceLedger() (recording, *decision) {
	if f.holdsLedger() {
		return f.ledger.fenceHome(*f.spec.Ledger)
	}
	return f.ledger.fenceFollower(ledgerStateOf(f.spec.Copy))
}

// fenceHome lets events be recorded only on top of the head that their writer saw, and where the ledger does not go on elsewhere already. A ledger that was
// lost continues from the object's status before that: its writer then sees another head, and proposes again.
func (l ledgerFacts) fenceHome(asked v1alpha1.LedgerUpdate) (recording, *decision) {
	if l.isLost() {
		return l.recoverFromStatus()
	}
	head, unchanged := l.recorded.Head, recording{next: l.recorded}
	if asked.After != head {
		isFollowed := l.taken != nil && asked.LedTo(*l.taken)
		if isFollowed || asked.LedTo(head) {
			return recording{next: l.recorded, applied: l.recorded, isFollowed: isFollowed, knowsHead: !isFollowed}, nil // The events were recorded before.
		}
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.after: %s is not the head of the ledger in the repository, which is %s", describeHead(asked.After), describeHead(head))
	}
	next, err := ledger.Append(l.recorded, l.now, asked.Events...)
	if err != nil {
		return unchanged, l.refuseIllegal(err)
	}
	if len(asked.Events) > 0 && l.isBehindKnown(next) {
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s does not follow from %s, which another repository has", describeHead(next.Head), describeHead(l.known))
	}
	return recording{next: next, events: asked.Events, applied: next, knowsHead: true}, nil
}

// isBehindKnown is true for a state that is older than what another repository has, or of another ledger that does not continue that in a later epoch.
func (l ledgerFacts) isBehindKnown(next ledger.State) bool {
	isOther := l.known.Seq > 0 && l.known.Ledger != next.Ledger
	return next.Compare(l.known) < 0 || isOther && next.Epoch <= l.known.Epoch
}

// refuseIllegal refuses an event that must not follow. Where numbers were used without a ledger, the writer of the event may not have seen
// them yet.
func (l ledgerFacts) refuseIllegal(err error) *decision {
	var illegal ledger.IllegalError
	if errors.As(err, &illegal) && l.recorded.Seq == 0 && l.recorded.LastNumber > 0 {
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s: commits of the repository speak of revision %d", err, l.recorded.LastNumber)
	}
	return refuse(v1alpha1.ReasonIllegal, "spec.forProvider.ledger.events: %s", err)
}

// isLost reports whether the repository lost the ledger, or was restored from a backup, while the object shows it. One that moved away continues in
// another home; one that was moved away by force goes on in a later epoch elsewhere. The repository may follow that and have closed its own: a status that
// was not written since shows what was closed.
func (l ledgerFacts) isLost() bool {
	shown, r := ledgerStateOf(l.shown), l.record
	if shown.Seq == 0 || shown.IsClosed || shown.Successor != "" || l.known.Epoch > shown.Epoch {
		return false
	}
	if l.recorded.Seq > 0 {
		return shown.Supersedes(l.recorded)
	}
	return r == nil || r.Deleted || r.Head.Epoch <= shown.Epoch
}

// recoverFromStatus continues a ledger from the state that the object shows.
func (l ledgerFacts) recoverFromStatus() (recording, *decision) {
	shown, events := *l.shown, []ledger.Event(nil)
	if l.recorded.Seq == 0 || l.recorded.IsClosed || l.recorded.Successor != "" {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: l.identity, Home: shown.Home}})
	}
	events = append(events, ledger.Event{Recovered: &ledger.Recovered{Copy: shown, LastNumber: l.recorded.LastNumber}})
	next, err := ledger.Append(l.recorded, l.now, events...)
	if err != nil {
		return recording{next: l.recorded, recovers: true}, refuse(v1alpha1.ReasonIllegal, "cannot recover the ledger from the status: %s", err)
	}
	return recording{next: next, events: events, recovers: true},
		refuse(v1alpha1.ReasonOrderBehind, "the repository lost the ledger: it continues from the status of the GitDelivery, in epoch %d", next.Epoch)
}

// fenceFollower refuses a lower position than the recorded one, and an older copy of the ledger.
func (l ledgerFacts) fenceFollower(asked ledger.State) (recording, *decision) {
	out := recording{next: l.recorded}
	if asked.Seq == 0 {
		return out, refuse(v1alpha1.ReasonInvalid, "spec.forProvider.copy: a copy of a ledger has a seq above 0")
	}
	if r := l.record; r != nil && r.Head.Seq > 0 && !r.Deleted {
		if asked.Position().Compare(r.Position) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded", describePosition(asked.Position()), describePosition(r.Position))
		}
		if asked.Compare(r.Head) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded", describeHead(asked.Head), describeHead(r.Head))
		}
	}
	out.applied, out.closes = asked, l.file != nil && asked.Epoch > l.recorded.Epoch
	return out, nil
}

// fencePosition refuses trees of another position than the one to which events led that no spec contains.
func fencePosition(f facts) *decision {
	asked, at := f.spec.AskedPosition(), f.recording.applied.Position()
	if !f.recording.isFollowed || asked == at {
		return nil
	}
	return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.position: the trees belong to %s, and the ledger went on to %s", describePosition(asked), describePosition(at))
}

// fenceDirectories refuses a tree that would replace another one in the recorded position than its writer saw. One position may bring a directory to several
// trees, one after another: an object from a backup asks for an earlier one of them.
func fenceDirectories(f facts) *decision {
	if !f.isAppliedByState() {
		return nil
	}
	for i, t := range f.spec.Trees {
		was, isKnown := f.deliveredTree(t.Branch, t.Path)
		if !isKnown || t.Action == v1alpha1.ActionKeep || t.After == "" || was.Tree == t.Tree || was.Tree == t.After {
			continue
		}
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.trees[%d].after: the directory has tree %s in this position, and not %s any more", i, was.Tree, t.After)
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

// ledgerFacts are what is known of the ledger that a delivery is about. The other facts are about directories.
type ledgerFacts struct {
	// file of the ledger in the repository. Nil if there is none.
	file *state.LedgerFile
	// record of the repository. Nil if there is none.
	record *state.RecordFile
	// newer says why the files must be left alone: a newer version wrote them. Empty if none did.
	newer string
	// recorded is the state of the ledger that the repository holds. Where it holds none, its number is the last one that commits speak of.
	recorded ledger.State
	// taken is the head after the last events of a spec. Nil means that it is the recorded one.
	taken *ledger.Head
	// known is the newest head of the ledger that another repository has, as its delivery reports or as the record of this one says. It is empty where
	// nothing is to be recorded.
	known ledger.Head
	// shown is the ledger that the object's status shows. Nil if it shows none.
	shown *ledger.State
	// now is when events are recorded, and identity that of a ledger which has to be opened again after a loss.
	now      time.Time
	identity string
	// obstacle is why the directories cannot be compared, although they were read. Nil if they can.
	obstacle error
}

// A recording is what is to be recorded in the ledger.
type recording struct {
	// next is the state of the ledger after it. Without events it is what is recorded.
	next ledger.State
	// events are those of the spec, and mandated what follows by its mandate. Taken is the state between them, where something follows.
	events, mandated []ledger.Event
	taken            ledger.State
	// applied is the state that the trees follow from: that of the ledger in the home, and the copy elsewhere.
	applied ledger.State
	// isFollowed is true where the events of the spec were recorded before, and the ledger has others after them that no spec contains.
	isFollowed bool
	// knowsHead is true where the spec names the recorded head, or led to it: what a mandate records next goes on from there.
	knowsHead bool
	// recovers is true while the status is all that has the ledger: it must show that until the repository has it again.
	recovers bool
	// closes is true for a follower that holds the ledger of a home that was left. That goes in the push which records a copy of the one that counts, and in
	// no other one: until then it is all that the repository knows.
	closes bool
}

// isEmpty reports whether the ledger has nothing to learn.
func (r recording) isEmpty() bool { return len(r.events)+len(r.mandated) == 0 }

// takenAfter returns the head that a mandate went on from once all is recorded, or nil, where it is known before.
func (r recording) takenAfter(before *ledger.Head) *ledger.Head {
	switch {
	case len(r.mandated) == 0 && (!r.isEmpty() || r.closes):
		return nil
	case len(r.mandated) > 0 && (len(r.events) > 0 || r.knowsHead || before == nil):
		return new(r.taken.Head)
	}
	return before
}

// afterRecording returns the facts as they are once the ledger is recorded.
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

// shownRecord returns the record as a status has it. It returns nil if there is none.
func (l ledgerFacts) shownRecord() *v1alpha1.LedgerRecord {
	r := l.record
	if r == nil || r.Deleted || r.Head.Seq == 0 {
		return nil
	}
	shown := r.LedgerRecord
	return shown.DeepCopy()
}

// isRemembered reports whether the files speak of a delivery that was not deleted.
func (l ledgerFacts) isRemembered() bool {
	isOpen := l.recorded.Seq > 0 && !l.recorded.IsClosed && l.recorded.Successor == ""
	return isOpen || l.record != nil && !l.record.Deleted && l.record.Head.Seq > 0
}

// describedState returns the state that the commits of a delivery speak of: the one that is applied, or else the one that is recorded.
func (f facts) describedState() ledger.State {
	if f.recording.applied.Current != nil {
		return f.recording.applied
	}
	return f.ledger.recorded
}

// gatherSiblings returns the deliveries of the claim, the oldest first, where another one of them may say something about the ledger: to a home that may be
// about to record, and to a repository that may go by the mandate of the home.
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

// newestElsewhere returns the newest head of the ledger that another repository has, where the home may be about to record: a home that the ledger was
// forced away from may come back with events that were asked of it before, and what it recorded then would count nowhere.
func (f facts) newestElsewhere(d *v1alpha1.GitDelivery) ledger.Head {
	newest, all := ledger.Head{}, f.siblings
	if !f.mayRecord() {
		return newest
	}
	if r := f.ledger.record; r != nil && !r.Deleted {
		newest = newerHead(newest, r.Copy)
	}
	for i := range all {
		// A ledger that is closed is that of a deployment which was deleted, and had the name.
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

// headOf returns the newest head of the ledger that a delivery shows. One that reported no ledger yet, and asks for events on top of a head, is that of a
// home whose ledger was seen before the object was lost.
func headOf(d *v1alpha1.GitDelivery) ledger.Head {
	at, asked := d.Status.AtProvider, d.Spec.ForProvider.Ledger
	head := newerHead(ledger.Head{}, at.Ledger)
	if at.Record != nil {
		head = newerHead(head, at.Record.Copy)
	}
	if at.Ledger == nil && asked != nil && asked.After.Compare(head) > 0 {
		return asked.After
	}
	return head
}

// mayRecord reports whether events are asked for on top of the head that the repository has, or the status shows a ledger that may have been lost.
func (l ledgerFacts) mayRecord(asked v1alpha1.LedgerUpdate) bool {
	return len(asked.Events) > 0 && asked.After == l.recorded.Head || ledgerStateOf(l.shown).Supersedes(l.recorded)
}

// newerHead returns the newer one of a head and that of a state, which may be nil.
func newerHead(h ledger.Head, s *ledger.State) ledger.Head {
	if s != nil && s.Compare(h) > 0 {
		return s.Head
	}
	return h
}
