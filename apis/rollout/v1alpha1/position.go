package v1alpha1

import "github.com/intentplane/intentplane/apis/ledger"

// Position returns how far an order is. It is the zero value for an order of no revision.
func (o Order) Position() ledger.Position {
	return ledger.Position{Epoch: o.Epoch, Revision: o.Revision, Attempt: o.Attempt, Step: o.Step}
}
