package sitehealth

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/workload"
)

// memory keeps the note of each object from one reconcile to the next.
type memory = setup.Memory[note]

// A note is the state kept between reconciles of one SiteHealth. Only one reconcile at a time has it.
type note struct {
	// pendingSince is the time since which the status differs from the desired status. Zero if it is.
	pendingSince time.Time
	// writes limits the rate of status writes for one image.
	writes *rate.Limiter
	// reconciledAt is the time at which it was last reconciled in full.
	reconciledAt time.Time
	// next is the latest time of the next observation. Zero means the interval.
	next time.Time
	// sites have the state of each Site.
	sites map[string]*siteNote
}

// A siteNote is the state kept about one Site.
type siteNote struct {
	pods   podNote
	routes routeNote
}

// A podNote is the cached state of the unavailable pods of a Site.
type podNote struct {
	// selector of the pods, and since when none of them is available.
	selector string
	since    time.Time
	// readAt is the time at which they were last listed. Zero means never.
	readAt time.Time
	// trouble that they had then.
	trouble workload.Trouble
}

func newNoteMemory() *memory { return setup.NewMemory(newObjectNote) }

func newObjectNote() *note {
	return &note{sites: map[string]*siteNote{}, writes: newWriteLimiter()}
}

func newWriteLimiter() *rate.Limiter { return rate.NewLimiter(rate.Every(writeInterval), writeBurst) }

// findOrAddSiteNote returns the note about a Site. It is not safe for concurrent use.
func (n *note) findOrAddSiteNote(site string) *siteNote {
	s, ok := n.sites[site]
	if !ok {
		s = &siteNote{}
		n.sites[site] = s
	}
	return s
}
