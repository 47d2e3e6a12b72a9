package bundlestate

import (
	"time"

	"github.com/intentplane/intentplane/provider/controller/setup"
)

// memory keeps what is known of each object from one reconcile to the next.
type memory = setup.Memory[note]

// A note is what is kept about one BundleState. Only one reconcile at a time has it.
type note struct {
	// pendingSince is since when the status is not what it should be. Zero if it is.
	pendingSince time.Time
	// reconciledAt is when it was last reconciled in full.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
}

func newMemory() *memory { return setup.NewMemory(newNote) }

func newNote() *note {
	return &note{}
}
