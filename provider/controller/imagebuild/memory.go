package imagebuild

import (
	"time"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// memory keeps the note of each object from one reconcile to the next.
type memory = setup.Memory[note]

// A note is the state kept between reconciles of one ImageBuild. Only one reconcile at a time has it.
type note struct {
	// reconciledAt is when it was last reconciled in full.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// stepAt is when the step of a Build was last written.
	stepAt time.Time
	// asked is the look that a user asks for, and askedAt since when that is known.
	asked   string
	askedAt time.Time
	// refusal is the last Image that kpack refused.
	refusal *refusal
	// asking is the last requested Image.
	asking *asking
	// heldWanted is the wanted image that the status does not have yet. Nil if it does.
	heldWanted *v1alpha1.WantedImage
}

func newNoteMemory() *memory { return setup.NewMemory(newObjectNote) }

func newObjectNote() *note {
	return &note{}
}

// pendingLookSince returns since when a user asks for a look that was not done, or zero.
func (n *note) pendingLookSince(requested, done string, now time.Time) time.Time {
	if requested == done {
		return time.Time{}
	}
	if n.asked != requested {
		n.asked, n.askedAt = requested, now
	}
	return n.askedAt
}
