package deployment

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// A memory is the content of a repository's state ref about the deployment.
type memory struct {
	// ledger is the zero value if the repository is not the home.
	ledger ledger.State
	// taken is the head after the last events of a spec. Nil means that it is the head of the ledger.
	taken *ledger.Head
	// record is nil where the repository was brought to nothing.
	record *record
}

// A record is the last position and trees that a repository was brought to.
type record struct {
	deleted bool
	home    string
	head    ledger.Head
	// applied is the state that the trees follow from.
	applied ledger.State
	// position that the trees belong to.
	position ledger.Position
	// copy of the ledger in a follower.
	copy      *ledger.State
	trees     []deliveryv1alpha1.DeliveredTree
	revisions []deliveryv1alpha1.HistoryEntry
}

// A fence is the decision of a repository about the ledger of a delivery, before its trees.
type fence struct {
	// next is the ledger after the events to record, and events are the events that lead to it.
	next   ledger.State
	events []ledger.Event
	// applied is the state that the trees belong to.
	applied ledger.State
	// isFollowed is set if the ledger has events after the events of the spec that no spec contains.
	isFollowed bool
	// closes is set if the ledger of a home that was left is removed once the record has a copy of the valid ledger.
	closes bool
	// reason why the trees are not written. Empty means that they are.
	reason  xpv2.ConditionReason
	illegal error
}

// refuse returns the fence with a reason.
func (f fence) refuse(reason xpv2.ConditionReason) fence {
	f.reason = reason
	return f
}

// fenceHome records events only on top of the head that their writer saw, and none that are older than a known head elsewhere. A lost ledger continues
// from the earlier status.
func fenceHome(m memory, recorded ledger.State, requested deliveryv1alpha1.LedgerUpdate, published ledger.State, knownHead ledger.Head, identity string, now time.Time) fence {
	if f, recovers := recoverFromStatus(recorded, published, identity, now); recovers && !m.wasLeft(published) && knownHead.Epoch <= published.Epoch {
		return f
	}
	f := fence{next: recorded, applied: recorded}
	if wasRecorded(recorded, requested) {
		return f
	}
	if f.isFollowed = m.isFollowed(recorded, requested); f.isFollowed {
		return f
	}
	if isBehind := requested.After != recorded.Head; isBehind {
		return f.refuse(deliveryv1alpha1.ReasonOrderBehind)
	}
	next, err := ledger.Append(recorded, now, requested.Events...)
	if err != nil && recorded.Seq == 0 && recorded.LastNumber > 0 {
		return f.refuse(deliveryv1alpha1.ReasonOrderBehind)
	}
	if err != nil {
		f.illegal = err
		return f.refuse(deliveryv1alpha1.ReasonIllegal)
	}
	isOther := knownHead.Seq > 0 && knownHead.Ledger != next.Ledger
	if len(requested.Events) > 0 && (next.Compare(knownHead) < 0 || isOther && next.Epoch <= knownHead.Epoch) {
		return f.refuse(deliveryv1alpha1.ReasonOrderBehind)
	}
	return fence{next: next, events: requested.Events, applied: next}
}

// wasLeft is true for a repository that closed a ledger, and follows the ledger of a later epoch. A status may show the closed ledger.
func (m memory) wasLeft(published ledger.State) bool {
	r := m.record
	return m.ledger.Seq == 0 && r != nil && !r.deleted && r.head.Epoch > published.Epoch
}

// wasRecorded is true for events that led to the head of a ledger.
func wasRecorded(recorded ledger.State, requested deliveryv1alpha1.LedgerUpdate) bool {
	id, err := ledger.NextID(requested.After.ID, requested.Events...)
	return len(requested.Events) > 0 && err == nil && id == recorded.ID
}

// isFollowed is true for events that were recorded, and that others follow which no spec contains.
func (m memory) isFollowed(recorded ledger.State, requested deliveryv1alpha1.LedgerUpdate) bool {
	t := m.taken
	return t != nil && t.Ledger == recorded.Ledger && t.Epoch == recorded.Epoch && requested.LedTo(*t)
}

// recoverFromStatus continues a ledger that the repository lost from the state that the object shows. Its writer sees another head then.
func recoverFromStatus(recorded, published ledger.State, identity string, now time.Time) (fence, bool) {
	if published.Seq == 0 || published.IsClosed || published.Successor != "" || recorded.Seq > 0 && !published.Supersedes(recorded) {
		return fence{}, false
	}
	var events []ledger.Event
	if recorded.Seq == 0 || recorded.IsClosed || recorded.Successor != "" {
		events = append(events, ledger.Event{Opened: &ledger.Opened{Ledger: identity, Home: published.Home}})
	}
	events = append(events, ledger.Event{Recovered: &ledger.Recovered{Copy: published, LastNumber: recorded.LastNumber}})
	next, err := ledger.Append(recorded, now, events...)
	if err != nil {
		return fence{next: recorded, reason: deliveryv1alpha1.ReasonIllegal, illegal: err}, true
	}
	return fence{next: next, events: events, applied: next, reason: deliveryv1alpha1.ReasonOrderBehind}, true
}

// fenceFollower refuses a lower position than the recorded one, and an older copy of the ledger.
func fenceFollower(m memory, requested deliveryv1alpha1.GitDeliveryParameters) fence {
	desired := ptr.Deref(requested.Copy, ledger.State{})
	f := fence{next: m.ledger, applied: desired, closes: m.ledger.Seq > 0 && desired.Epoch > m.ledger.Epoch}
	r := m.record
	switch {
	case desired.Seq == 0:
		return f.refuse(deliveryv1alpha1.ReasonInvalid)
	case r == nil || r.deleted || r.head.Seq == 0:
		return f
	case desired.Position().Compare(r.position) < 0 || desired.Compare(r.head) < 0:
		return f.refuse(deliveryv1alpha1.ReasonOrderBehind)
	}
	return f
}

// tombstone returns the remains of a deleted delivery in a repository: a closed ledger in the home, and the numbers elsewhere.
func (m memory) tombstone(now time.Time) memory {
	if next, err := ledger.Append(m.ledger, now, ledger.Event{Closed: &ledger.Closed{}}); err == nil {
		return memory{ledger: next}
	}
	r := m.record
	if r == nil {
		return m
	}
	left := &record{deleted: true, home: r.home, head: r.head, position: r.position}
	if c := r.copy; c != nil {
		left.copy = &ledger.State{Head: c.Head, Home: c.Home, LastNumber: c.LastNumber, Requests: c.Requests}
	}
	return memory{ledger: m.ledger, record: left}
}

// recorded returns the ledger that a repository holds. Where it holds none, its number is the highest that its record or commits speak of.
func (m memory) recorded(committed int64) ledger.State {
	s := m.ledger
	if r := m.record; r != nil {
		s.LastNumber = max(s.LastNumber, r.position.Revision, ptr.Deref(r.copy, ledger.State{}).LastNumber)
	}
	if s.Seq == 0 && (m.record == nil || m.record.head.Seq == 0) {
		s.LastNumber = max(s.LastNumber, committed)
	}
	return s
}

// shown returns the record as a status has it.
func (m memory) shown() *deliveryv1alpha1.LedgerRecord {
	r := m.record
	if r == nil || r.deleted || r.head.Seq == 0 {
		return nil
	}
	return &deliveryv1alpha1.LedgerRecord{Home: r.home, Head: r.head, Position: r.position, Copy: r.copy}
}
