package mandate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// maxEvents is the maximum number of events that one push records by a mandate.
const maxEvents = 8

// Conclude returns the events that the provider may record by the mandate, and the state after them. next is the state after the events of the spec, on
// top of the recorded state: these events come first.
func (f Facts) Conclude(recorded, next ledger.State) (ledger.State, []ledger.Event) {
	state, events, _ := f.collectNextEvents(recorded, next)
	return state, events
}

// Held returns the reason for which the provider holds back the next step or verification despite its evidence. It is ClaimUnread until the claim was read, and
// empty without a hold. Rejections and rollbacks are never held back.
func (f Facts) Held(recorded, next ledger.State) v1alpha1.MandateHold {
	_, _, hold := f.collectNextEvents(recorded, next)
	return hold
}

// collectNextEvents returns the next events, the state after them, and the first hold. A held event that goes forward holds back no rejection and no rollback.
func (f Facts) collectNextEvents(recorded, next ledger.State) (ledger.State, []ledger.Event, v1alpha1.MandateHold) {
	var (
		events []ledger.Event
		hold   v1alpha1.MandateHold
	)
	for len(events) < maxEvents {
		e := f.nextMandatedEvent(recorded, next, hold != "")
		if e == nil {
			break
		}
		state, err := ledger.Append(next, f.Now, *e)
		if err != nil {
			break
		}
		if step.KindOf(next, *e).GoesForward() {
			if hold = f.holdForward(recorded, state); hold != "" {
				continue
			}
		}
		next, events = state, append(events, *e)
	}
	return next, events, hold
}

// nextMandatedEvent returns the next event by the rules of apis/step, if the mandate lists its kind, or nil. A request that is left to the function holds back no
// rejection, and each step. isHeld excludes each event that goes forward, and the requests for one.
func (f Facts) nextMandatedEvent(recorded, s ledger.State, isHeld bool) *ledger.Event {
	status := Status(f.Home.Spec.ForProvider.Mandate, s)
	if status == nil {
		return nil
	}
	in := f.decisionInput(recorded, s)
	if isHeld {
		in.Requests = slices.DeleteFunc(slices.Clone(in.Requests), func(r step.Request) bool { return r.Action == step.ActionPromote })
		status.May = slices.DeleteFunc(status.May, step.Kind.GoesForward)
	}
	if e := listedEvent(status, s, in); e != nil || len(in.Requests) == 0 {
		return e
	}
	in.Requests = nil
	status.May = slices.DeleteFunc(status.May, step.Kind.GoesForward)
	return listedEvent(status, s, in)
}

// listedEvent returns the next event for an input, if the mandate lists its kind, or nil.
func listedEvent(status *v1alpha1.MandateStatus, s ledger.State, in step.Input) *ledger.Event {
	e, _ := step.Conclude(s, in)
	if e == nil || !slices.Contains(status.May, step.KindOf(s, *e)) {
		return nil
	}
	return e
}

// decisionInput returns the input of the decision about an event. A position that is only proposed has no evidence. The mandate comes from a function that knows
// the trees of the revision, so that no version outranks it.
func (f Facts) decisionInput(recorded, s ledger.State) step.Input {
	m := f.Home.Spec.ForProvider.Mandate
	in := step.Input{
		Versions:    step.Versions{Scheme: s.Current.Request.Scheme, Renderer: s.Current.Request.Renderer},
		IsSuspended: m.Suspended,
		Policy:      step.Policy{AutoRollback: m.Rollback.AutoRollback, MaxRetries: m.Rollback.MaxRetries, MaxPerHour: m.Rollback.MaxPerHour},
		Directories: f.directories(recorded, s), HasAllReported: f.haveAllReported(s),
		IsRecorded: s.Head == recorded.Head, HoldsFiles: f.holdsFilesOfStep(s), Requests: f.Requests,
	}
	if s.Position() == recorded.Position() {
		in.Proof = f.positionProof(recorded, s)
	}
	return in
}

// directories returns the directories of the current revision: the delivered directories of the home, and the reported directories of the other
// repositories.
func (f Facts) directories(recorded, s ledger.State) []step.Directory {
	return directories.Reports{
		Recorded: recorded, Sites: f.observedSites(), IsChosen: f.isChosenSite,
		IsApplied: func(part ledger.Part) bool { return f.isPartApplied(part, recorded) },
		DeliveredBy: func(part ledger.Part, site string) (v1alpha1.DeliveredTree, bool) {
			return f.deliveredBy(s, part, site)
		},
	}.DirectoriesOf(s)
}

// isPartApplied is true for a part of a revision whose repository has applied the recorded position. A follower knows its own directories from the record in its
// repository at any position: no other writer changes them.
func (f Facts) isPartApplied(part ledger.Part, recorded ledger.State) bool {
	switch d := f.deliveryOfPart(part); {
	case d == nil:
		return false
	case d != f.ownDelivery():
		return evidence.HasApplied(d, recorded.Position())
	case f.Self != nil:
		return f.Copy != nil
	}
	return f.Applied == recorded.Position()
}

// deliveredBy returns the delivered tree of a Site in the repository of a part of the current revision, and whether it is known.
func (f Facts) deliveredBy(s ledger.State, part ledger.Part, site string) (v1alpha1.DeliveredTree, bool) {
	switch d := f.deliveryOfPart(part); {
	case d == nil:
		return v1alpha1.DeliveredTree{}, false
	case d != f.ownDelivery():
		return evidence.HeldTreeAt(effectiveAt(d, s), site)
	}
	t, ok := requestedTree(f.ownDelivery(), site)
	delivered, isKnown := f.Delivered[t.Path]
	return delivered, ok && isKnown
}

// ownDelivery returns the delivery whose repository Delivered is about.
func (f Facts) ownDelivery() *v1alpha1.GitDelivery {
	if f.Self != nil {
		return f.Self
	}
	return f.Home
}

// requestedTree returns the tree of a Site in the spec of a delivery, and whether the spec has one.
func requestedTree(d *v1alpha1.GitDelivery, site string) (v1alpha1.Tree, bool) {
	trees := d.Spec.ForProvider.Trees
	i := slices.IndexFunc(trees, func(t v1alpha1.Tree) bool { return t.Site == site })
	if i < 0 {
		return v1alpha1.Tree{}, false
	}
	return trees[i], true
}

// isChosenSite is true for a Site that the deployment still selects.
func (f Facts) isChosenSite(site string) bool {
	return !slices.Contains(f.Home.Spec.ForProvider.Mandate.Without, site)
}
