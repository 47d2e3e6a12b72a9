package compose

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// AskForPosition returns deliveries that ask for the position of a state, and in a settled one for the removal of the directories that they have left. The
// delivery to the home records as well.
func AskForPosition(ds, observed map[string]*deliveryv1alpha1.GitDelivery, s ledger.State, home string) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveries(ds, func(name string, p deliveryv1alpha1.GitDeliveryParameters) deliveryv1alpha1.GitDeliveryParameters {
		position := s.Position()
		p.Position, p.Ledger, p.Copy, p.Mandate = &position, nil, nil, nil
		if name == home {
			p.Ledger = &deliveryv1alpha1.LedgerUpdate{}
		}
		p.Settled = s.IsVerified() && mustRemoveTrees(ds[name], observed[name], position)
		return p
	})
}

// mustRemoveTrees reports whether a repository has directories that a delivery does not name, or was asked to remove them at a position.
func mustRemoveTrees(d, observed *deliveryv1alpha1.GitDelivery, position ledger.Position) bool {
	if observed == nil {
		return false
	}
	requested := observed.Spec.ForProvider
	if requested.Settled && requested.Position != nil && position.HasReached(*requested.Position) {
		return true
	}
	return slices.ContainsFunc(observed.Status.AtProvider.Trees, func(delivered deliveryv1alpha1.DeliveredTree) bool {
		return !slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return t.Path == delivered.Path })
	})
}

// Record returns the delivery to the home of a ledger, which asks to record events on top of its head. While nothing is to be recorded, it asks
// again for the events that led to the head, or to the head that the provider went on from, if it did before: another request would change the object for
// nothing. By the mandate the provider records the next events.
func Record(d, observed *deliveryv1alpha1.GitDelivery, head ledger.Head, events []ledger.Event, m *deliveryv1alpha1.Mandate) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Spec.ForProvider.Ledger, out.Spec.ForProvider.Mandate = &deliveryv1alpha1.LedgerUpdate{After: head, Events: events}, m
	if observed == nil || len(events) > 0 {
		return &out
	}
	requested, observation := observed.Spec.ForProvider.Ledger, observed.Status.AtProvider
	isOfHead := observation.Ledger != nil && observation.Ledger.Head == head
	if requested != nil && (requested.LedTo(head) || isOfHead && observation.HasRecorded(*requested)) {
		out.Spec.ForProvider.Ledger = requested.DeepCopy()
	}
	return &out
}

// Withdraw returns an observed delivery without events to record: the ledger continues in another repository, from the newest known state. It
// keeps its trees, and its position only where that is the position of the state: another one was to be recorded first.
func Withdraw(observed *deliveryv1alpha1.GitDelivery, spec deploymentv1alpha1.DeliveryConfig, newest ledger.State) *deliveryv1alpha1.GitDelivery {
	out, essentials := resumeDelivery(observed, spec), newest.Essentials()
	p := &out.Spec.ForProvider
	p.Ledger, p.Mandate, p.Copy = nil, nil, &essentials
	if p.Position != nil && *p.Position != newest.Position() {
		p.Position = nil
	}
	return out
}

// Follow returns a delivery to another repository than the home, with a copy of the recorded state. Where the state brings nothing new, the delivery stays
// at the position that it has: neither a verdict nor a step elsewhere changes a follower. A delivery that does not exist yet asks for no position before the
// revision comes to its Sites, so that its repository is read only. In tracks each repository is asked for each position: the content of its directories counts.
func Follow(name string, d, observed *deliveryv1alpha1.GitDelivery, recorded ledger.State) *deliveryv1alpha1.GitDelivery {
	out := *d
	p := &out.Spec.ForProvider
	essentials := recorded.Essentials()
	p.Copy = &essentials
	asksForNothing := evidence.AsksForNothing(d)
	isTracked := recorded.HasTracks()
	if observed == nil {
		if asksForNothing && !isTracked && !evidence.IsReached(name, d, recorded) {
			p.Position = nil
		}
		return &out
	}
	requested := observed.Spec.ForProvider
	isLeft := evidence.IsLeftAlone(name, d, observed, recorded)
	isHeld := asksForNothing && requested.Copy != nil && evidence.IsOfRevision(requested.Position, recorded) && evidence.HasStepOf(name, *requested.Position, recorded)
	if isLeft || !isTracked && isHeld {
		p.Position, p.Copy = requested.Position, requested.Copy
	}
	if record := evidence.RecordInPlace(name, d, observed, recorded); record != nil && !isLeft {
		p.Position, p.Copy = &record.Position, record.Copy
	}
	if isLeft && asksForNothing {
		p.Trees, p.Settled = requested.Trees, requested.Settled
	}
	if isLeft && recorded.IsRejected() {
		p.Later = requested.Later // Nothing delivers them any more, and another spec would be a write.
	}
	return &out
}
