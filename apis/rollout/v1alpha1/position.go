package v1alpha1

import "github.com/intentplane/intentplane/apis/ledger"

// Position returns how far an order is. It is the zero value for an order of no revision.
func (o Order) Position() ledger.Position {
	return ledger.Position{Epoch: o.Epoch, Revision: o.Revision, Attempt: o.Attempt, Step: o.Step}
}

// AskedPosition returns the position that a Gate judges.
func (p GateParameters) AskedPosition() ledger.Position {
	if p.Position != nil {
		return *p.Position
	}
	return p.Order.Position()
}

// ObservedPosition returns the position that an observation speaks of. It is the zero value if nothing was observed.
func (o GateObservation) ObservedPosition() ledger.Position {
	switch {
	case o.Position != nil:
		return *o.Position
	case o.Order != nil:
		return o.Order.Position()
	}
	return ledger.Position{}
}

// BlueprintName returns the name of the Blueprint that the judged revision was compiled with. It is empty if the Gate names none.
func (p GateParameters) BlueprintName() string {
	switch {
	case p.Blueprint != nil:
		return p.Blueprint.Name
	case p.Order.Blueprint != nil:
		return p.Order.Blueprint.Name
	}
	return ""
}
