package v1alpha1

import (
	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
)

// LedTo reports whether the events of the update led to a head: then they are recorded. An update without events led to the head that its writer saw.
func (u LedgerUpdate) LedTo(h ledger.Head) bool {
	if len(u.Events) == 0 {
		return h.Seq > 0 && u.After == h
	}
	id, err := ledger.NextID(u.After.ID, u.Events...)
	return err == nil && id == h.ID
}

// HasRecorded reports whether the ledger of the repository has the events of an update as the last events of a spec. Other events may follow them.
func (o GitDeliveryObservation) HasRecorded(u LedgerUpdate) bool {
	return o.Ledger != nil && (u.LedTo(o.Ledger.Head) || o.Taken != nil && u.LedTo(*o.Taken))
}

// AskedPosition returns the position that the trees of a delivery belong to. It is the zero value for a home that has no revision yet.
func (p GitDeliveryParameters) AskedPosition() ledger.Position {
	switch {
	case p.Position != nil:
		return *p.Position
	case p.Copy != nil:
		return p.Copy.Position()
	}
	return ledger.Position{}
}

// AppliedPosition returns the position that the repository was brought to last. It is the zero value if it was brought to none.
func (o GitDeliveryObservation) AppliedPosition() ledger.Position {
	if o.Record == nil {
		return ledger.Position{}
	}
	return o.Record.Position
}

// RecordedState returns the ledger that the repository has, or its copy of the ledger of the home. It is the zero value if the repository has neither.
func (o GitDeliveryObservation) RecordedState() ledger.State {
	switch {
	case o.Ledger != nil:
		return *o.Ledger
	case o.Record != nil && o.Record.Copy != nil:
		return *o.Record.Copy
	}
	return ledger.State{}
}

// AskedPosition returns the position of the spec, which the Sites have to run.
func (p SiteSyncParameters) AskedPosition() ledger.Position {
	return ptr.Deref(p.Position, ledger.Position{})
}

// ObservedPosition returns the position that an observation is about. It is the zero value if nothing was observed.
func (o SiteSyncObservation) ObservedPosition() ledger.Position {
	return ptr.Deref(o.Position, ledger.Position{})
}
