package deployment

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/ledgerhome"
)

// ledgerHome returns the home of the ledger for the compiled spec: that says where a ledger is opened first, and to which repositories it may be forced.
func (o Observed) ledgerHome(in Input, k Compiled) step.Home {
	if o.home.ConfigRef != "" && len(o.requests) == 0 {
		return o.home
	}
	if h := o.findLedgerHome(in, k); h.ConfigRef != o.home.ConfigRef {
		return h
	}
	return o.home
}

// withoutStaleEvents returns the observed objects without the proposed events by which a revision begins that is not requested any more, and all that follow them.
func (o Observed) withoutStaleEvents(r ledger.Request) Observed {
	for i, e := range o.home.Events {
		if e.Ordered != nil && e.Ordered.Revision.Request != r || e.Rebased != nil && e.Rebased.Request != r {
			o.home.Events = o.home.Events[:i]
			o.state, _ = ledger.Append(o.home.State, ledgerhome.RecordingTime(), o.home.Events...) // The longer list is legal.
			o.deliveries = ledgerhome.WithoutDropped(o.deliveries, o.state)
			return o
		}
	}
	return o
}

// continueWith returns the observed objects, as far as they still hold for the compiled spec.
func (o Observed) continueWith(k Compiled) Observed {
	if k.Problem != nil {
		return o
	}
	return o.withoutStaleEvents(k.request.Request)
}

// findLedgerHome returns the home of the ledger by the observed deliveries, or else the home that the compiled spec prefers.
func (o Observed) findLedgerHome(in Input, k Compiled) step.Home {
	id := ledgerhome.Identity{Claim: in.Claim, UID: in.UID}
	if n := len(in.Status.Transitions); n > 0 {
		id.Transition = in.Status.Transitions[n-1].Index
	}
	return ledgerhome.Find(o.deliveries, id, k.preferredHome, o.stepRequests(k))
}

// homeDelivery returns the name of the delivery to a home, observed or wanted.
func (o Observed) homeDelivery(home string, wanted map[string]*deliveryv1alpha1.GitDelivery) string {
	return ledgerhome.DeliveryName(home, o.deliveries, wanted, o.state)
}
