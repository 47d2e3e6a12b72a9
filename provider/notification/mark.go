package notification

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// A Config names a configuration.
type Config struct {
	// Kind of the configuration.
	Kind string

	// Namespace of a ProviderConfig. Empty for a ClusterProviderConfig.
	Namespace string

	// Name of the configuration.
	Name string
}

// identityKey returns the key of the configuration in a book of the namespace of its deployments.
func (c Config) identityKey() string { return c.Kind + "/" + c.Name }

// A ReceiverID names a receiver of a configuration, as marks do: Kind/name/receiver. The namespace of a ProviderConfig is the namespace of
// its book.
type ReceiverID string

// Receivers returns the names of the receivers of a configuration, in their order. A receiver that was stored before receivers had names is named by its place.
func (c Config) Receivers(all []configv1alpha1.Notification) []ReceiverID {
	out := make([]ReceiverID, len(all))
	for i := range all {
		out[i] = ReceiverID(c.Kind + "/" + c.Name + "/" + cmp.Or(all[i].Name, "#"+strconv.Itoa(i+1)))
	}
	return out
}

// Name of the receiver in its configuration.
func (r ReceiverID) Name() string { return string(r[strings.LastIndexByte(string(r), '/')+1:]) }

// A Mark is the last outcome of a deployment that was posted to a receiver, or given up.
type Mark struct {
	// Index of the transition that brought the outcome.
	Index int64 `json:"index"`

	// At is when the revision ended, in seconds since 1970.
	At int64 `json:"at"`

	// ID of the notification, without the uid of the deployment. Empty if the deployment had no outcome.
	ID string `json:"id,omitempty"`

	// Set is when the mark was set, in seconds since 1970.
	Set int64 `json:"set,omitempty"`
}

// NewMark returns the mark of an outcome, set now.
func NewMark(o *Outcome, now time.Time) Mark {
	return Mark{Index: o.Index, At: o.At.Unix(), ID: o.identityKey(), Set: now.Unix()}
}

// NewestMark returns the mark behind all that a log shows, set now, or false for an empty log.
func NewestMark(outcomes []Outcome, log []deploymentv1alpha1.Transition, now time.Time) (Mark, bool) {
	if len(log) == 0 {
		return Mark{}, false
	}
	newest := log[len(log)-1]
	m := Mark{Index: newest.Index, At: newest.At.Unix(), Set: now.Unix()}
	if n := len(outcomes); n > 0 {
		m.ID = outcomes[n-1].identityKey()
	}
	return m, true
}

// FirstMark returns the mark of the newest outcome before a receiver was there, set now, or false if there is none. Without it the outcome would seem to be
// new where the status shows it again at a later time.
func FirstMark(outcomes []Outcome, start, now time.Time) (Mark, bool) {
	for i := range slices.Backward(outcomes) {
		if outcomes[i].At.Unix() < start.Unix() {
			return NewMark(&outcomes[i], now), true
		}
	}
	return Mark{}, false
}

// Untold returns the outcomes that were not posted to a receiver yet, which are the outcomes after its mark: no receiver gets an outcome again with each
// reconcile. A receiver without a mark begins with the first outcome that is not before start.
func Untold(outcomes []Outcome, log []deploymentv1alpha1.Transition, mark *Mark, start time.Time) []Outcome {
	isLater := func(o Outcome) bool { return o.At.Unix() >= start.Unix() }
	if mark != nil {
		isLater = mark.newAfterFilter(log)
	}
	first := slices.IndexFunc(outcomes, isLater)
	if first < 0 {
		return nil
	}
	return outcomes[first:]
}

// newAfterFilter returns a function that reports whether an outcome of a log comes after the mark. The index decides, which no clock moves. In another log than the
// marked one, since the status was restored from a backup or computed again, the time decides.
func (m *Mark) newAfterFilter(log []deploymentv1alpha1.Transition) func(o Outcome) bool {
	isSameLog := m.isFromSameLog(log)
	return func(o Outcome) bool {
		if o.identityKey() == m.ID {
			return false
		}
		if isSameLog {
			return o.Index > m.Index
		}
		return o.At.Unix() >= m.At
	}
}

// isFromSameLog reports whether a mark was set by a log as it is now. A transition that the log has forgotten is taken for one of it.
func (m *Mark) isFromSameLog(log []deploymentv1alpha1.Transition) bool {
	if len(log) == 0 || log[len(log)-1].Index < m.Index {
		return false
	}
	i := slices.IndexFunc(log, func(t deploymentv1alpha1.Transition) bool { return t.Index == m.Index })
	return i < 0 || log[i].At.Unix() == m.At
}
