package gitdelivery

import (
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

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
	// shown is the ledger that the object's status shows. Nil if it shows none.
	shown *ledger.State
	// now is when events are recorded, and identity that of a ledger which has to be opened again after a loss.
	now      time.Time
	identity string
	// obstacle is why the directories cannot be compared, although they were read. Nil if they can.
	obstacle error

	// next is the state of the ledger after what is to be recorded, and events what leads to it. Without events it is what is recorded.
	next   ledger.State
	events []ledger.Event
	// applied is the state that the trees follow from: that of the ledger in the home, and the copy elsewhere.
	applied ledger.State
	// recovers is true while the status is all that has the ledger: it must show that until the repository has it again.
	recovers bool
	// closes is true for a follower that holds the ledger of a home that was left.
	closes bool
}

// isHome reports whether the repository of the delivery holds the ledger.
func (f facts) isHome() bool { return f.spec.Ledger != nil }

// isUnrecorded reports whether the ledger is to be written, or removed.
func (l *ledgerFacts) isUnrecorded() bool { return len(l.events) > 0 || l.closes }

// shownRecord returns the record as a status has it. It returns nil if there is none.
func (l *ledgerFacts) shownRecord() *v1alpha1.LedgerRecord {
	r := l.record
	if r == nil || r.Deleted || r.Head.Seq == 0 {
		return nil
	}
	return &v1alpha1.LedgerRecord{Home: r.Home, Head: r.Head, Position: r.Position, Copy: r.Copy.DeepCopy()}
}

// isRemembered reports whether the files speak of a delivery that was not deleted.
func (l *ledgerFacts) isRemembered() bool {
	isOpen := l.recorded.Seq > 0 && !l.recorded.IsClosed && l.recorded.Successor == ""
	return isOpen || l.record != nil && !l.record.Deleted && l.record.Head.Seq > 0
}

// describedState returns the state that the commits of a delivery speak of: the one that is applied, or else the one that is recorded.
func (l *ledgerFacts) describedState() ledger.State {
	if l.applied.Current != nil {
		return l.applied
	}
	return l.recorded
}
