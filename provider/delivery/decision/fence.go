package decision

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/state"
)

// fenceLedger returns the events to record, or a refusal. It refuses events after another head, and a copy older than the recorded position or head.
func (f Facts) fenceLedger() (Recording, *Decision) {
	if f.HoldsLedger() {
		return f.Ledger.fenceHome(*f.Spec.Ledger)
	}
	return f.Ledger.fenceFollower(ledgerStateOf(f.Spec.Copy))
}

// fenceHome accepts events only on top of the head that their writer read, and only if no other repository continues the ledger. A lost ledger first
// continues from the object's status: its writer then reads another head, and proposes its events again.
func (l LedgerFacts) fenceHome(requested v1alpha1.LedgerUpdate) (Recording, *Decision) {
	if l.isLost() {
		return l.recoverFromStatus()
	}
	head, unchanged := l.Recorded.Head, Recording{Next: l.Recorded}
	if requested.After != head {
		isFollowed := l.Taken != nil && requested.LedTo(*l.Taken)
		if isFollowed || requested.LedTo(head) {
			return Recording{Next: l.Recorded, Applied: l.Recorded, IsFollowed: isFollowed, KnowsHead: !isFollowed}, nil // The events were recorded before.
		}
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.after: %s is not the head of the ledger in the repository, which is %s",
			describeHead(requested.After), describeHead(head))
	}
	next, err := ledger.Append(l.Recorded, l.Now, requested.Events...)
	if err != nil {
		return unchanged, l.refuseIllegal(err)
	}
	if len(requested.Events) > 0 && l.isBehindKnown(next) {
		return unchanged, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s does not follow from %s, which another repository has",
			describeHead(next.Head), describeHead(l.Known))
	}
	return Recording{Next: next, Events: requested.Events, Applied: next, KnowsHead: true}, nil
}

// isBehindKnown is true for a state older than the newest head of another repository, and for a state of another ledger without a later epoch.
func (l LedgerFacts) isBehindKnown(next ledger.State) bool {
	isOther := l.Known.Seq > 0 && l.Known.Ledger != next.Ledger
	return next.Compare(l.Known) < 0 || isOther && next.Epoch <= l.Known.Epoch
}

// refuseIllegal refuses an event that may not follow the recorded state. If commits used numbers that no ledger has, the writer of the event may not have
// read them yet.
func (l LedgerFacts) refuseIllegal(err error) *Decision {
	var illegal ledger.IllegalError
	if errors.As(err, &illegal) && l.Recorded.Seq == 0 && l.Recorded.LastNumber > 0 {
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.ledger.events: %s: commits of the repository speak of revision %d", err, l.Recorded.LastNumber)
	}
	return refuse(v1alpha1.ReasonIllegal, "spec.forProvider.ledger.events: %s", err)
}

// isLost reports whether the repository lost the ledger, or was restored from a backup, while the object's status shows it. A ledger that moved continues
// in another home; a ledger that was moved by force continues elsewhere in a later epoch. The repository may follow that ledger and have closed its own: a
// status that was not written since still shows the closed ledger.
func (l LedgerFacts) isLost() bool {
	published, r := ledgerStateOf(l.Shown), l.Record
	if published.Seq == 0 || published.IsClosed || published.Successor != "" || l.Known.Epoch > published.Epoch {
		return false
	}
	if l.Recorded.Seq > 0 {
		return published.Supersedes(l.Recorded)
	}
	return r == nil || r.Deleted || r.Head.Epoch <= published.Epoch
}

// recoverFromStatus continues a ledger from the state in the object's status.
func (l LedgerFacts) recoverFromStatus() (Recording, *Decision) {
	published, events := *l.Shown, []ledger.Event(nil)
	if l.Recorded.Seq == 0 || l.Recorded.IsClosed || l.Recorded.Successor != "" {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: l.Identity, Home: published.Home}})
	}
	events = append(events, ledger.Event{Recovered: &ledger.Recovered{Copy: published, LastNumber: l.Recorded.LastNumber}})
	next, err := ledger.Append(l.Recorded, l.Now, events...)
	if err != nil {
		return Recording{Next: l.Recorded, Recovers: true}, refuse(v1alpha1.ReasonIllegal, "cannot recover the ledger from the status: %s", err)
	}
	return Recording{Next: next, Events: events, Recovers: true},
		refuse(v1alpha1.ReasonOrderBehind, "the repository lost the ledger: it continues from the status of the GitDelivery, in epoch %d", next.Epoch)
}

// fenceFollower refuses a lower position than the recorded one, and an older copy of the ledger.
func (l LedgerFacts) fenceFollower(requested ledger.State) (Recording, *Decision) {
	out := Recording{Next: l.Recorded}
	if requested.Seq == 0 {
		return out, refuse(v1alpha1.ReasonInvalid, "spec.forProvider.copy: a copy of a ledger has a seq above 0")
	}
	if r := l.Record; r != nil && r.Head.Seq > 0 && !r.Deleted {
		if requested.Position().Compare(r.Position) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded",
				describePosition(requested.Position()), describePosition(r.Position))
		}
		if requested.Compare(r.Head) < 0 {
			return out, refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.copy: %s is older than %s, which is recorded",
				describeHead(requested.Head), describeHead(r.Head))
		}
	}
	out.Applied, out.Closes = requested, l.File != nil && requested.Epoch > l.Recorded.Epoch
	return out, nil
}

// fencePosition refuses trees of another position than the ledger reached by events that no spec contains.
func fencePosition(f Facts) *Decision {
	requested, applied := f.Spec.AskedPosition(), f.Recording.Applied.Position()
	if !f.Recording.IsFollowed || requested == applied {
		return nil
	}
	return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.position: the trees belong to %s, and the ledger went on to %s",
		describePosition(requested), describePosition(applied))
}

// fenceDirectories refuses a tree if, at the recorded position, the directory has another tree than its writer read. One position may deliver several
// trees to a directory, one after another: an object from a backup requests an earlier tree.
func fenceDirectories(f Facts) *Decision {
	if !f.isAppliedByState() {
		return nil
	}
	for i, t := range f.Spec.Trees {
		delivered, isKnown := f.deliveredTree(t.Branch, t.Path)
		if !isKnown || t.Action == v1alpha1.ActionKeep || t.After == "" || delivered.Tree == t.Tree || delivered.Tree == t.After {
			continue
		}
		return refuse(v1alpha1.ReasonOrderBehind, "spec.forProvider.trees[%d].after: the directory has tree %s in this position, and not %s any more",
			i, delivered.Tree, t.After)
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

// LedgerFacts are the facts about the ledger of a delivery. The other facts are about directories.
type LedgerFacts struct {
	// File of the ledger in the repository. Nil without a ledger.
	File *state.LedgerFile
	// Record of the repository. Nil without a record.
	Record *state.RecordFile
	// Newer is the error for files that a newer version wrote and that must not be changed. Empty without such files.
	Newer string
	// Recorded is the state of the ledger in the repository. Without a ledger, its last number is the highest revision in the trailers of commits.
	Recorded ledger.State
	// Taken is the head after the last events of a spec. Nil means the recorded head.
	Taken *ledger.Head
	// Known is the newest head of the ledger in another repository, by the status of its delivery or by the copy in the record. It is empty without
	// events to record.
	Known ledger.Head
	// Shown is the ledger in the object's status. Nil if the status has none.
	Shown *ledger.State
	// Now is the time of recorded events, and Identity is the ID of a ledger that is opened again after a loss.
	Now      time.Time
	Identity string
	// Obstacle is the lasting error that prevents a comparison of the directories. Nil without an error.
	Obstacle error
}

// A Recording has the pending events of the ledger and their result.
type Recording struct {
	// Next is the state of the ledger after the recording. Without events it is the recorded state.
	Next ledger.State
	// Events are the events of the spec, and Mandated the events by its mandate. Taken is the state between them, if there are mandated events.
	Events, Mandated []ledger.Event
	Taken            ledger.State
	// Applied is the state that the trees belong to: the state of the ledger in the home, and the copy in each other repository.
	Applied ledger.State
	// IsFollowed is true if the events of the spec were recorded before, and the ledger has later events that no spec contains.
	IsFollowed bool
	// KnowsHead is true if the spec names the recorded head, or led to it: the next events of a mandate continue from that head.
	KnowsHead bool
	// Recovers is true while only the status has the ledger: the status must retain it until the repository has it again.
	Recovers bool
	// Closes is true for a follower that still has its ledger as a former home. The push that records a copy of the current ledger deletes it, and no earlier
	// push: until then the repository has no other state.
	Closes bool
}

// IsEmpty reports whether the recording has no events.
func (r Recording) IsEmpty() bool { return len(r.Events)+len(r.Mandated) == 0 }

// takenAfter returns the head after the last events of a spec once the recording is done, given the previous value. Nil means the recorded head.
func (r Recording) takenAfter(previous *ledger.Head) *ledger.Head {
	switch {
	case len(r.Mandated) == 0 && (!r.IsEmpty() || r.Closes):
		return nil
	case len(r.Mandated) > 0 && (len(r.Events) > 0 || r.KnowsHead || previous == nil):
		return new(r.Taken.Head)
	}
	return previous
}

// AfterRecording returns the facts after the recording of the ledger.
func (f Facts) AfterRecording() Facts {
	f.Ledger.Taken = f.Recording.takenAfter(f.Ledger.Taken)
	f.Ledger.Recorded = f.Recording.Next
	if f.Recording.Closes {
		f.Ledger.Recorded = ledger.State{LastNumber: f.Recording.Next.LastNumber}
	}
	f.Recording = Recording{Next: f.Ledger.Recorded, Applied: f.Recording.Applied}
	return f
}

// HoldsLedger reports whether the repository of the delivery holds the ledger.
func (f Facts) HoldsLedger() bool { return f.Spec.Ledger != nil }

// ShownRecord returns the record in the form of the status. It returns nil without a record.
func (l LedgerFacts) ShownRecord() *v1alpha1.LedgerRecord {
	r := l.Record
	if r == nil || r.Deleted || r.Head.Seq == 0 {
		return nil
	}
	published := r.LedgerRecord
	return published.DeepCopy()
}

// isRemembered reports whether the state has an open ledger, or the record of a delivery that was not deleted.
func (l LedgerFacts) isRemembered() bool {
	isOpen := l.Recorded.Seq > 0 && !l.Recorded.IsClosed && l.Recorded.Successor == ""
	return isOpen || l.Record != nil && !l.Record.Deleted && l.Record.Head.Seq > 0
}

// DescribedState returns the state for the messages of commits: the applied state, or else the recorded state.
func (f Facts) DescribedState() ledger.State {
	if f.Recording.Applied.Current != nil {
		return f.Recording.Applied
	}
	return f.Ledger.Recorded
}

// MayRecord is true for a home that may be about to record.
func (f Facts) MayRecord() bool {
	return f.HoldsLedger() && (f.Spec.Mandate != nil || f.Ledger.mayRecord(*f.Spec.Ledger))
}

// NewestElsewhere returns the newest head of the ledger in another repository, if the home may be about to record events: a former home, from which the
// ledger was forced away, may come back with earlier events, and their recording would be void.
func (f Facts) NewestElsewhere(d *v1alpha1.GitDelivery) ledger.Head {
	newest, all := ledger.Head{}, f.Siblings
	if !f.MayRecord() {
		return newest
	}
	if r := f.Ledger.Record; r != nil && !r.Deleted {
		newest = newerHead(newest, r.Copy)
	}
	for i := range all {
		// A closed ledger belongs to a deleted deployment of the same name.
		o := &all[i]
		if o.GetName() == d.GetName() || o.Spec.ForProvider.ClaimRef != f.Spec.ClaimRef || ledgerStateOf(o.Status.AtProvider.Ledger).IsClosed {
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
func (l LedgerFacts) mayRecord(requested v1alpha1.LedgerUpdate) bool {
	return len(requested.Events) > 0 && requested.After == l.Recorded.Head || ledgerStateOf(l.Shown).Supersedes(l.Recorded)
}

// newerHead returns the newer of a head and the head of a state, which may be nil.
func newerHead(h ledger.Head, s *ledger.State) ledger.Head {
	if s != nil && s.Compare(h) > 0 {
		return s.Head
	}
	return h
}

// ledgerStateOf returns a state, or an empty state for nil.
func ledgerStateOf(s *ledger.State) ledger.State { return ptr.Deref(s, ledger.State{}) }

// AppendTo returns the file of the ledger after the recording.
func (r Recording) AppendTo(file state.LedgerFile, now time.Time) state.LedgerFile {
	if len(r.Mandated) == 0 {
		return file.Append(r.Next, withTime(r.Events, now))
	}
	if len(r.Events) > 0 {
		file = file.Append(r.Taken, withTime(r.Events, now))
	}
	if r.KnowsHead {
		file.Taken = nil
	}
	return file.AppendMandated(r.Next, withTime(r.Mandated, now))
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
