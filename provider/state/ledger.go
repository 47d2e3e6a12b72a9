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
}

// A LoggedEvent is an event as the file lists it, for audits: without the lists of Sites and trees, which the state has as far as they matter.
type LoggedEvent struct {
	// Seq is the number of the event.
	Seq int64 `json:"seq"`

	ledger.Event `json:",inline"`
}

// DecodeLedger returns the ledger that a file holds. It returns a *NewerError about one that only a newer version may change, and an error about
// anything that Encode would not have written, but for fields that it does not know: any user who may push to the repository can write a file.
func DecodeLedger(content []byte) (LedgerFile, error) {
	f := LedgerFile{}
	if err := decodeFile(ledgerFile, content, maxLedgerBytes, &f.Header, &f); err != nil {
		return f, err
	}
	return f, errors.Wrap(f.State.Check(), "cannot decode state")
}

// Append returns the file after events that led to a state. A claim and a cluster are those of who writes it.
func (f LedgerFile) Append(next ledger.State, events []ledger.Event) LedgerFile {
	f.Events = slices.Clone(f.Events)
	for i, e := range events {
		f.Events = append(f.Events, LoggedEvent{Seq: next.Seq - int64(len(events)-1-i), Event: withoutLists(e)})
	}
	f.State = next
	return f
}

// withoutLists returns an event without what would make a list of events large.
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
	f.Header, f.Events = f.written(), lastEvents(f.Events)
	return encodeFile(ledgerFile, f, maxLedgerBytes, f.stored, &LedgerFile{})
}

// lastEvents returns as many of the last events as there is room for.
func lastEvents(events []LoggedEvent) []LoggedEvent {
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
