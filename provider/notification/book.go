package notification

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// maxBytes is how large a book is. A ConfigMap takes 1 MiB.
	maxBytes = 900 << 10

	// maxReceivers is how many receivers a book has, with receivers that are missing. They fit into it, however long their names are: a tenant may write any
	// number of configurations.
	maxReceivers = 2000

	// Absence is how long a receiver may be missing from its configuration, or the configuration from the cluster, before the marks of the receiver go.
	Absence = time.Hour
)

// A Book has the marks of the notifications of one namespace.
type Book struct {
	// Receivers of the configurations of the namespace. The book without a namespace has the receivers of ClusterProviderConfigs.
	Receivers map[ReceiverID]Presence `json:"receivers,omitempty"`

	// Deployments of the namespace.
	Deployments map[DeploymentID]Entry `json:"deployments,omitempty"`

	// Floor is the time, in seconds since 1970, up to which the outcomes of a deployment without a mark are taken for posted. 0 means none. It rises where
	// the book would be too large, and the marks of the deployments go that had no outcome for longest.
	Floor int64 `json:"floor,omitempty"`
}

// A DeploymentID distinguishes a deployment from others of both shapes, and from earlier ones of its name: group/uid.
type DeploymentID string

// ID of the deployment among all that have marks.
func (d *Deployment) ID() DeploymentID {
	group, _, _ := strings.Cut(d.APIVersion, "/")
	return DeploymentID(group + "/" + d.UID)
}

// An Entry has the marks of one deployment.
type Entry struct {
	// Config is the configuration whose receivers the deployment had at the last look. Empty before the first one.
	Config string `json:"config,omitempty"`

	// Marks of the receivers.
	Marks Marks `json:"marks,omitempty"`
}

// Marks of a deployment, by the receiver.
type Marks map[ReceiverID]Mark

// A Presence says since when a receiver is there.
type Presence struct {
	// Since is when the receiver was seen first, in seconds since 1970.
	Since int64 `json:"since"`

	// Gone is when it was found missing, in seconds since 1970. 0 means that it is there.
	Gone int64 `json:"gone,omitempty"`
}

// nextPresence returns the presence of a receiver that is there. A receiver that was missing for too long, also while no provider looked, is there
// from now on, and so is a receiver that was first seen by a clock which was ahead.
func (p Presence) nextPresence(now time.Time) Presence {
	if p.Gone != 0 && now.Unix()-p.Gone >= int64(Absence.Seconds()) {
		return Presence{Since: now.Unix()}
	}
	return Presence{Since: min(p.Since, now.Unix())}
}

// See records which receivers are there. A full book records no further receivers. It returns whether that changed the book, and when the next receiver that is
// missing is forgotten, or 0.
func (b *Book) See(present []ReceiverID, now time.Time) (changed bool, delay time.Duration) {
	for _, r := range present {
		p, isKnown := b.Receivers[r]
		if !isKnown && b.IsFull() {
			continue
		}
		next := p.nextPresence(now)
		if !isKnown {
			next.Since = now.Unix()
		}
		if !isKnown || next != p {
			changed = true
			b.setPresence(r, next)
		}
	}
	isPresent := sets.New(present...)
	for r, p := range b.Receivers {
		if isPresent.Has(r) {
			continue
		}
		if p.Gone == 0 || p.Gone > now.Unix() {
			p.Gone, changed = now.Unix(), true
			b.setPresence(r, p)
		}
		left := time.Unix(p.Gone, 0).Add(Absence).Sub(now)
		if left <= 0 {
			delete(b.Receivers, r)
			changed = true
			continue
		}
		if delay == 0 || left < delay {
			delay = left
		}
	}
	return changed, delay
}

// IsFull reports whether the book has room for no further receiver.
func (b *Book) IsFull() bool { return len(b.Receivers) >= maxReceivers }

func (b *Book) setPresence(r ReceiverID, p Presence) {
	if b.Receivers == nil {
		b.Receivers = map[ReceiverID]Presence{}
	}
	b.Receivers[r] = p
}

// MarkOf returns the mark of a receiver, or nil if none was set since the receiver is there.
func (b *Book) MarkOf(d DeploymentID, r ReceiverID, notBefore time.Time) *Mark {
	m, isKnown := b.Deployments[d].Marks[r]
	if !isKnown || max(m.At, m.Set) < notBefore.Unix() {
		return nil
	}
	return &m
}

// Set sets the mark of a receiver.
func (b *Book) Set(d DeploymentID, r ReceiverID, m Mark) {
	e := b.Deployments[d]
	if e.Marks == nil {
		e.Marks = Marks{}
	}
	e.Marks[r] = m
	b.setBookEntry(d, e)
}

// SetConfig remembers the configuration of a deployment. It returns whether that changed the book.
func (b *Book) SetConfig(d DeploymentID, c Config) bool {
	e := b.Deployments[d]
	if e.Config == c.identityKey() {
		return false
	}
	e.Config = c.identityKey()
	b.setBookEntry(d, e)
	return true
}

// HasMoved reports whether a deployment had another configuration at the last look.
func (b *Book) HasMoved(d DeploymentID, c Config) bool {
	last := b.Deployments[d].Config
	return last != "" && last != c.identityKey()
}

func (b *Book) setBookEntry(d DeploymentID, e Entry) {
	if b.Deployments == nil {
		b.Deployments = map[DeploymentID]Entry{}
	}
	b.Deployments[d] = e
}

// Drop removes a deployment. It returns whether the book had it.
func (b *Book) Drop(d DeploymentID) bool {
	_, isMarked := b.Deployments[d]
	delete(b.Deployments, d)
	return isMarked
}

// Keep removes deployments that do not exist, and the marks of receivers other than some. Without any receiver it removes all deployments. It returns whether
// there was anything to remove.
func (b *Book) Keep(exists func(DeploymentID) bool, receivers []ReceiverID) bool {
	changed, retained := false, sets.New(receivers...)
	for d, e := range b.Deployments {
		count := len(e.Marks)
		maps.DeleteFunc(e.Marks, func(r ReceiverID, _ Mark) bool { return !retained.Has(r) })
		if changed = changed || len(e.Marks) < count; len(receivers) == 0 || !exists(d) {
			delete(b.Deployments, d)
			changed = true
		}
	}
	return changed
}

// IsEmpty reports whether the book has neither receivers nor deployments.
func (b *Book) IsEmpty() bool { return len(b.Receivers) == 0 && len(b.Deployments) == 0 }

// Encode returns a book as JSON. Until it fits, it forgets the deployments that had no outcome for longest. It returns an error if it cannot be encoded.
func (b *Book) Encode() (string, error) {
	for {
		text, err := json.Marshal(b)
		if err != nil || len(text) <= maxBytes {
			return string(text), errors.Wrap(err, "cannot encode marks of notifications")
		}
		if !b.forgetOldest() {
			return "", errors.New("cannot encode marks of notifications: the receivers alone are too many")
		}
	}
}

// forgetOldest forgets a tenth of the deployments, and raises the floor, so that no outcome of them is posted again. It returns whether there were any.
func (b *Book) forgetOldest() bool {
	oldest := slices.SortedFunc(maps.Keys(b.Deployments), func(d, e DeploymentID) int {
		return cmp.Compare(b.Deployments[d].Marks.newestMarkTime(), b.Deployments[e].Marks.newestMarkTime())
	})
	for _, d := range oldest[:(len(oldest)+9)/10] {
		b.Floor = max(b.Floor, b.Deployments[d].Marks.newestMarkTime()+1)
		delete(b.Deployments, d)
	}
	return len(oldest) > 0
}

func (m Marks) newestMarkTime() int64 {
	newest := int64(0)
	for _, mark := range m {
		newest = max(newest, mark.At)
	}
	return newest
}

// DecodeBook returns a book that was encoded. It returns an error if it cannot be read.
func DecodeBook(text string) (*Book, error) {
	b := &Book{}
	return b, errors.Wrap(json.Unmarshal([]byte(text), b), "cannot decode marks of notifications")
}
