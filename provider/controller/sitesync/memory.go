package sitesync

import (
	"time"

	"github.com/intentplane/intentplane/provider/controller/setup"
)

// memory keeps the note of each object from one reconcile to the next.
type memory = setup.Memory[note]

// A note is the state kept between reconciles of one SiteSync. Only one reconcile at a time has it.
type note struct {
	// draft is the desired status that is not written yet. Nil if it is.
	draft *draft
	// reconciledAt is when it was last reconciled, and not only observed quickly.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// requested are the tokens of the requests that engines got, by Site.
	requested map[string]string
}

func newNoteMemory() *memory { return setup.NewMemory(newObjectNote) }

func newObjectNote() *note {
	return &note{requested: map[string]string{}}
}
