package v1alpha1

import "github.com/intentplane/intentplane/apis/ledger"

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
