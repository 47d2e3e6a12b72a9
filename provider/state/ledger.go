package state

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
)

const (
	// maxLedgerBytes is how large the file of a ledger can be: a plan of 500 Sites, the trees of two such revisions, and events.
	maxLedgerBytes = 512 << 10

	// maxEvents is how many events a file lists, and maxEventsBytes how large they are together. The oldest are left out.
	maxEvents      = 64
	maxEventsBytes = 64 << 10
)

// A LedgerFile is the file in which the home repository holds the ledger of a deployment.
type LedgerFile struct {
	Header `json:",inline"`

	// State of the ledger.
	State ledger.State `json:"state"`
	// Events that led to the state, the last ones, the oldest first.
	Events []LoggedEvent `json:"events,omitempty"`

	// Taken is the head after the last events of a spec, where others follow them that no spec contains. Nil means that none follow.
	// TakenHead says whether it holds: an older version keeps the field, and records the events of a spec after it.
	Taken *ledger.Head `json:"taken,omitempty"`
}

// A Recorder says on whose behalf an event was recorded.
type Recorder string

// RecorderMandate stands for an event that no spec contains. Events without a recorder come from specs, recoveries and deletions.
const RecorderMandate Recorder = "mandate"

// A LoggedEvent is an event as the file lists it, for audits: without the lists of Sites and trees, which the state has as far as they matter.
type LoggedEvent struct {
	// Seq is the number of the event.
	Seq int64 `json:"seq"`
	// By is on whose behalf the event was recorded. Empty stands for the spec of the GitDelivery.
	By Recorder `json:"by,omitempty"`

	ledger.Event `json:",inline"`
}

// DecodeLedger returns the ledger that a file holds. It returns a *NewerError about a ledger that only a newer version may change, and an
// error about content that Encode would not have written, but for fields that it does not know: any user who may push to the repository can
// write a file.
func DecodeLedger(content []byte) (LedgerFile, error) {
	f := LedgerFile{}
	if err := decodeStateFile(ledgerFile, content, maxLedgerBytes, &f.Header, &f); err != nil {
		return f, err
	}
	return f, errors.Wrap(f.State.Check(), "cannot decode state")
}

// TakenHead returns the head after the last events of a spec, or nil if that is the head of the ledger. It returns nil, too, where the list of
// events does not show that a mandate recorded each event since: any user who may push to the repository can write the field, and an older version keeps it.
func (f LedgerFile) TakenHead() *ledger.Head {
	t, s := f.Taken, f.State
	if t == nil || t.Ledger != s.Ledger || t.Epoch != s.Epoch || t.Seq <= 0 || t.Seq >= s.Seq || s.Seq-t.Seq > int64(len(f.Events)) {
		return nil
	}
	for i, e := range f.Events[len(f.Events)-int(s.Seq-t.Seq):] {
		if e.Seq != t.Seq+1+int64(i) || e.By != RecorderMandate {
			return nil
		}
	}
	head := *t
	return &head
}

// Append returns the file with events of a spec appended, and the resulting state. The header names the claim and the cluster of the writer.
func (f LedgerFile) Append(next ledger.State, events []ledger.Event) LedgerFile {
	f.Events = slices.Clone(f.Events)
	for i, e := range events {
		f.Events = append(f.Events, LoggedEvent{Seq: next.Seq - int64(len(events)-1-i), Event: withoutLists(e)})
	}
	f.State, f.Taken = next, nil
	return f
}

// AppendMandated returns the file after events that no spec contains, and that led to a state.
func (f LedgerFile) AppendMandated(next ledger.State, events []ledger.Event) LedgerFile {
	head, recorded := f.TakenHead(), len(f.Events)
	if head == nil {
		head = &f.State.Head
	}
	out := f.Append(next, events)
	for i := range out.Events[recorded:] {
		out.Events[recorded+i].By = RecorderMandate
	}
	out.Taken = new(*head)
	return out
}

// withoutLists returns an event without the fields that would make a list of events large.
func withoutLists(e ledger.Event) ledger.Event {
	e = *e.DeepCopy()
	if e.Ordered != nil {
		e.Ordered.Revision.Plan, e.Ordered.Revision.Parts = nil, nil
	}
	if e.Judged != nil {
		e.Judged.Trees = nil
	}
	if e.Recovered != nil {
		e.Recovered.Copy = ledger.State{Head: e.Recovered.Copy.Head, Home: e.Recovered.Copy.Home, LastNumber: e.Recovered.Copy.LastNumber}
	}
	return e
}

// Encode returns the content of the file. Equal files have equal content. It returns an error about a ledger that DecodeLedger would not take.
func (f LedgerFile) Encode() ([]byte, error) {
	f.Header, f.Events = f.writtenHeader(), lastFittingEvents(f.Events)
	return encodeStateFile(ledgerFile, f, maxLedgerBytes, f.stored, &LedgerFile{})
}

// lastFittingEvents returns as many of the last events as there is room for.
func lastFittingEvents(events []LoggedEvent) []LoggedEvent {
	events = events[max(0, len(events)-maxEvents):]
	size := 0
	for i, e := range slices.Backward(events) {
		b, err := json.Marshal(e)
		if size += len(b); err != nil || size > maxEventsBytes {
			return events[i+1:]
		}
	}
	return events
}
