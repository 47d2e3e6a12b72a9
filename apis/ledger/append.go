package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// idLength is the number of hexadecimal digits of an ID.
const idLength = 32

// Append returns the state after events that are recorded at a time, which is cut to whole seconds, as the API server keeps it. The same
// events give the same head whenever they are recorded, and however they are grouped. It returns an IllegalError, and the state as it was, if one
// of them must not follow.
func Append(s State, timestamp time.Time, events ...Event) (State, error) {
	next, second := s, metav1.NewTime(timestamp.UTC().Truncate(time.Second))
	for _, e := range events {
		e.At = &second
		var err error
		if next, err = Apply(next, e); err != nil {
			return s, err
		}
	}
	return next, nil
}

// NextID returns the ID of a head after events on top of the head with an ID. It shows whether the events are the last recorded events. It
// returns an error if an event cannot be encoded.
func NextID(id string, events ...Event) (next string, err error) {
	for _, e := range events {
		if id, err = chainEventID(id, e); err != nil {
			return "", err
		}
	}
	return id, nil
}

// chainEventID digests an event and all before it, without its time.
func chainEventID(id string, e Event) (string, error) {
	e.At = nil
	b, err := json.Marshal(e)
	if err != nil {
		return "", errors.Wrap(err, "cannot encode the event")
	}
	sum := sha256.Sum256(append([]byte(id), b...))
	return hex.EncodeToString(sum[:])[:idLength], nil
}

// namedChange returns the change that the event makes, and its name. It is nil if the event has no change, or more than one.
func (e Event) namedChange() (string, change) {
	all := [...]struct {
		name string
		set  bool
		is   change
	}{
		{"Opened", e.Opened != nil, e.Opened},
		{"Ordered", e.Ordered != nil, e.Ordered},
		{"Advanced", e.Advanced != nil, e.Advanced},
		{"Promoted", e.Promoted != nil, e.Promoted},
		{"Judged", e.Judged != nil, e.Judged},
		{"RolledBack", e.RolledBack != nil, e.RolledBack},
		{"Restored", e.Restored != nil, e.Restored},
		{"Withdrawn", e.Withdrawn != nil, e.Withdrawn},
		{"Rebased", e.Rebased != nil, e.Rebased},
		{"Recovered", e.Recovered != nil, e.Recovered},
		{"Moved", e.Moved != nil, e.Moved},
		{"Closed", e.Closed != nil, e.Closed},
	}
	name, found := "", change(nil)
	for _, candidate := range all {
		if !candidate.set {
			continue
		}
		if found != nil {
			return "", nil
		}
		name, found = candidate.name, candidate.is
	}
	return name, found
}
