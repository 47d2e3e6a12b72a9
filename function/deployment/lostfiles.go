package deployment

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compose"
)

// revisionParts returns the deliveries that take part in the current revision, as they are observed, or as they are composed again.
func (dr decider) revisionParts(s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	return compose.Parts(dr.observed.deliveries, dr.wantedInPlace(s), *s.Current)
}

// wantedInPlace returns the deliveries from which a lost delivery is composed again while no new revision is ordered. For a rejected revision its directories
// alone are needed: without them it would be unknown whether it still gets requests. Any other revision needs its files, which the spec may not have any
// more.
func (dr decider) wantedInPlace(s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	if s.IsRejected() {
		return dr.compiled.deliveries
	}
	return nil
}
