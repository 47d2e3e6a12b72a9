package bundlestate

import (
	"maps"
	"time"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/controller/setup"
)

// memory keeps the note of each object from one reconcile to the next.
type memory = setup.Memory[note]

// A note is the state kept between reconciles of one BundleState. Only one reconcile at a time has it.
type note struct {
	// pendingSince is since when the status differs from the desired status. Zero if it is.
	pendingSince time.Time
	// reconciledAt is when it was last reconciled in full.
	reconciledAt time.Time
	// next is when to look again at the latest. Zero leaves that to the interval.
	next time.Time
	// created are the UIDs of the objects that were created, by the names of their packages, until a status that was read has them.
	created map[string]string
}

func newNoteMemory() *memory { return setup.NewMemory(newObjectNote) }

func newObjectNote() *note {
	return &note{created: map[string]string{}}
}

// addCreatedUIDs adds the UIDs that the status does not have yet to the observations of packages. It drops all other UIDs.
func (n *note) addCreatedUIDs(observed map[string]v1alpha1.PackageObservation) {
	for name, uid := range n.created {
		p := observed[name]
		if p.UID == uid {
			delete(n.created, name)
			continue
		}
		p.Name, p.UID = name, uid
		observed[name] = p
	}
}

// forgetCreated drops the UIDs of objects that no longer belong to the bundle.
func (n *note) forgetCreated(d *decision) {
	maps.DeleteFunc(n.created, func(name, uid string) bool { return d.findObservation(name).UID != uid })
}
