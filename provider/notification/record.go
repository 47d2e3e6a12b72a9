package notification

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

const (
	// maxHandled is how many outcomes a record remembers as handled. A status has fewer transitions.
	maxHandled = 64

	// MaxPending is how many outcomes a record holds for receivers that do not take them. The oldest is given up for one more.
	MaxPending = 20

	// newAge is the greatest age of an outcome that is posted although no record of its deployment exists. Older ones were there before the receivers.
	newAge = 30 * time.Minute

	// RetryFor is how long an outcome is posted again to a receiver that does not take it.
	RetryFor = 24 * time.Hour
)

// A Record is what is remembered of the notifications of one deployment.
type Record struct {
	// Deployment that the handled outcomes belong to. One that is created again under its name has another uid.
	Deployment Deployment `json:"deployment"`

	// Handled outcomes, the newest last. They are not posted again.
	Handled []Handled `json:"handled,omitempty"`

	// Pending outcomes, the oldest first.
	Pending []Pending `json:"pending,omitempty"`
}

// A Handled outcome was posted, is pending, or was wanted by no receiver when a status showed it.
type Handled struct {
	Result   deploymentv1alpha1.Outcome `json:"result"`
	Index    int64                      `json:"index"`
	Epoch    int64                      `json:"epoch"`
	Revision int64                      `json:"revision"`
}

// A Config names a configuration.
type Config struct {
	// Kind of the configuration.
	Kind string `json:"kind"`

	// Namespace of a ProviderConfig. Empty for a ClusterProviderConfig.
	Namespace string `json:"namespace,omitempty"`

	// Name of the configuration.
	Name string `json:"name"`
}

// A Pending outcome has to be taken by receivers.
type Pending struct {
	Outcome `json:",inline"`

	// Deployment that the outcome is about.
	Deployment Deployment `json:"deployment"`

	// Config whose receivers wanted it.
	Config Config `json:"config"`

	// Receivers that have not taken it, by their key.
	Receivers []string `json:"receivers"`
}

// ReceiverKey identifies a receiver in a record. It does not reveal the address.
func ReceiverKey(n *configv1alpha1.Notification) string {
	sum := sha256.Sum256([]byte(n.URL + "\n" + string(n.Format)))
	return hex.EncodeToString(sum[:8])
}

// receiversFor returns the keys of the receivers that want an outcome, each once.
func receiversFor(all []configv1alpha1.Notification, result deploymentv1alpha1.Outcome) []string {
	var out []string
	for i := range all {
		if key := ReceiverKey(&all[i]); slices.Contains(all[i].Events, result) && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// isHandled reports whether a record has an outcome, or the same one by another transition or in an earlier epoch.
func (r *Record) isHandled(o Outcome) bool {
	return slices.ContainsFunc(r.Handled, func(h Handled) bool {
		return h.Revision == o.Revision && h.Result == o.Result && (h.Index == o.Index || h.Epoch == o.Epoch)
	})
}

// Add notes the outcomes of a deployment that the record has not, and lets them wait for the receivers of a configuration that want them. It
// returns what was given up because the record is full, and whether the record changed.
func (r *Record) Add(d Deployment, outcomes []Outcome, config Config, receivers []configv1alpha1.Notification, now time.Time) (full []Pending, changed bool) {
	age := RetryFor
	if r.Deployment.UID != d.UID {
		r.Handled, age = nil, newAge
	}
	fresh := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool { return r.isHandled(o) || now.Sub(o.At.Time) >= age })
	if len(fresh) == 0 {
		return nil, false
	}
	r.Deployment = d
	for _, o := range outcomes {
		if !r.isHandled(o) {
			r.Handled = append(r.Handled, Handled{Result: o.Result, Index: o.Index, Epoch: o.Epoch, Revision: o.Revision})
		}
	}
	r.Handled = r.Handled[max(0, len(r.Handled)-maxHandled):]
	for _, o := range fresh {
		if to := receiversFor(receivers, o.Result); len(to) > 0 {
			r.Pending = append(r.Pending, Pending{Outcome: o, Deployment: d, Config: config, Receivers: to})
		}
	}
	over := max(0, len(r.Pending)-MaxPending)
	full, r.Pending = r.Pending[:over:over], r.Pending[over:]
	return full, true
}

// Taken removes a receiver from an outcome, and the outcome if it was the last one.
func (r *Record) Taken(id, receiver string) {
	for i := range r.Pending {
		if p := &r.Pending[i]; p.ID() == id {
			p.Receivers = slices.DeleteFunc(p.Receivers, func(key string) bool { return key == receiver })
		}
	}
	r.Pending = slices.DeleteFunc(r.Pending, func(p Pending) bool { return len(p.Receivers) == 0 })
}

// ID of the outcome.
func (p *Pending) ID() string { return p.Outcome.ID(p.Deployment.UID) }

// Encode returns a record as JSON. It returns an error if it cannot be encoded.
func (r *Record) Encode() (string, error) {
	b, err := json.Marshal(r)
	return string(b), errors.Wrap(err, "cannot encode record")
}

// DecodeRecord returns a record that was encoded. It returns an error if it cannot be read.
func DecodeRecord(text string) (*Record, error) {
	r := &Record{}
	return r, errors.Wrap(json.Unmarshal([]byte(text), r), "cannot decode record")
}
