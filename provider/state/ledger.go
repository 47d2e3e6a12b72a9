// Package state is what a control plane remembers in a repository about each claim: the ledger of its deployment, in the home repository, and in each
// repository a record of what it was brought to. It is pure: it reads and writes bytes, and the controller pushes them to the repository.
package state

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	// format of the files that a repository holds about a deployment, and the oldest format whose readers understand what is written.
	format    = 2
	minReader = 2

	// maxLedgerBytes is how large the file of a ledger can be: a plan of 500 Sites, the trees of two such revisions, and events.
	maxLedgerBytes = 512 << 10

	// maxEvents is how many events a file lists, and maxEventsBytes how large they are together. The oldest are left out.
	maxEvents      = 64
	maxEventsBytes = 64 << 10
)

// A LedgerFile is the file in which the home repository holds the ledger of a deployment.
type LedgerFile struct {
	// Format of the file.
	Format int `json:"format"`
	// MinReader is the oldest format whose readers understand the file. Who reads no such format must leave the file alone.
	MinReader int `json:"minReader"`
	// Claim that the ledger is about, without its UID: a claim that was restored from a backup is the same.
	Claim rolloutv1alpha1.ClaimReference `json:"claim"`
	// ClusterUID differs between two control planes of the same name.
	ClusterUID string `json:"clusterUID"`
	// State of the ledger.
	State ledger.State `json:"state"`
	// Events that led to the state, the last ones, the oldest first.
	Events []LoggedEvent `json:"events,omitempty"`

	// stored is what the file held when it was read. Fields of it that this version does not know are written back.
	stored map[string]any
}

// A LoggedEvent is an event as the file lists it, for audits: without the lists of Sites and trees, which the state has as far as they matter.
type LoggedEvent struct {
	// Seq is the number of the event.
	Seq int64 `json:"seq"`

	ledger.Event `json:",inline"`
}

// LedgerPath returns where the ledger of a claim lies in the state of its home repository.
func LedgerPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/ledger.json" }

// RecordPath returns where the record of a claim lies in the state of each of its repositories.
func RecordPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/record.json" }

// TreesPath returns the directory of the state that retains the trees which the record and the ledger of a claim name.
func TreesPath(c rolloutv1alpha1.ClaimReference) string { return directoryOf(c) + "/record.trees" }

func directoryOf(c rolloutv1alpha1.ClaimReference) string {
	return c.APIGroup + "/" + c.Namespace + "/" + c.Name
}

// A NewerError is returned about a file that only a newer version may change.
type NewerError struct {
	// MinReader is the oldest format whose readers understand the file.
	MinReader int
}

// Error says which version would be needed.
func (e *NewerError) Error() string {
	return "cannot decode state: it needs a reader of format " + formatNumber(e.MinReader) + ", and this version reads format " + formatNumber(format)
}

// DecodeLedger returns the ledger that a file holds. It returns a *NewerError about one that only a newer version may change, and an error about
// anything that Encode would not have written, but for fields that it does not know: any user who may push to the repository can write a file.
func DecodeLedger(content []byte) (LedgerFile, error) {
	f := LedgerFile{}
	stored, err := decodeFile(content, maxLedgerBytes, &f)
	if err != nil {
		return LedgerFile{}, err
	}
	f.stored = stored
	return f, errors.Wrap(f.checkLedgerFile(), "cannot decode state")
}

// decodeFile decodes a file of this format into a value, and returns all that it holds.
func decodeFile(content []byte, most int, into any) (map[string]any, error) {
	if len(content) > most {
		return nil, errors.Errorf("cannot decode state: it has more than %d bytes", most)
	}
	header, stored := struct {
		Format    int `json:"format"`
		MinReader int `json:"minReader"`
	}{}, map[string]any{}
	if err := json.Unmarshal(content, &header); err != nil {
		return nil, errors.New("cannot decode state: it is malformed")
	}
	if header.MinReader > format {
		return nil, &NewerError{MinReader: header.MinReader}
	}
	if header.Format < format {
		return nil, errors.Errorf("cannot decode state: format %d is not known", header.Format)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return nil, errors.New("cannot decode state: it is malformed")
	}
	if err := unmarshalNumbers(content, &stored); err != nil {
		return nil, errors.New("cannot decode state: it is malformed")
	}
	return stored, nil
}

// checkLedgerFile returns an error about a ledger that a status cannot show.
func (f LedgerFile) checkLedgerFile() error {
	if len(f.Events) > maxEvents {
		return errors.Errorf("it has more than %d events", maxEvents)
	}
	return firstError(checkClaim(f.Claim, f.ClusterUID), checkLedger("state", f.State))
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
	f.Format, f.MinReader = max(f.Format, format), max(f.MinReader, minReader)
	f.Claim.UID = ""
	f.Events = lastEvents(f.Events)
	if err := f.checkLedgerFile(); err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	return encodeFile(f, f.stored, &LedgerFile{}, maxLedgerBytes)
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

// encodeFile encodes a file with the fields of a stored one that this version does not know. Known is decoded into, to learn which it knows.
func encodeFile(file any, stored map[string]any, known any, most int) ([]byte, error) {
	next, err := toJSONObject(file)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		understood, err := understoodPart(stored, known)
		if err != nil {
			return nil, err
		}
		retainUnknown(next, stored, understood)
	}
	b, err := json.MarshalIndent(next, "", " ")
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	if len(b) >= most {
		return nil, errors.Errorf("cannot encode state: %d bytes are more than the %d that fit", len(b)+1, most)
	}
	return append(b, '\n'), nil
}

// checkClaim returns an error about the names in a file.
func checkClaim(c rolloutv1alpha1.ClaimReference, clusterUID string) error {
	return checkLengths(
		text{"claim.apiGroup", c.APIGroup, maxName}, text{"claim.kind", c.Kind, maxName}, text{"claim.namespace", c.Namespace, maxName},
		text{"claim.name", c.Name, maxName}, text{"claim.uid", c.UID, maxUID}, text{"clusterUID", clusterUID, maxUID},
	)
}
