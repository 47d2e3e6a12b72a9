package deployment

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/desired"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/phase"
)

// awaitLedgerHome composes the home of a ledger that was lost, and nothing else, until the home reports its ledger.
func (dr decider) awaitLedgerHome(d Decision, home step.Home) Decision {
	name := dr.observed.homeDelivery(home.ConfigRef, dr.compiled.deliveries)
	d.LedgerUnreachable = ledgerhome.UnreachableMessage(dr.observed.deliveries[name], home.ConfigRef)
	if dr.observed.deliveries[name] == nil {
		d.composed[name] = compose.Record(dr.emptyHomeDelivery(home.ConfigRef, name), nil, ledger.Head{}, nil, nil)
	}
	return d
}

// withdrawEvents asks each delivery that is not to the home to record nothing any more, and reports whether one was to.
func (dr decider) withdrawEvents(d Decision, home step.Home) bool {
	newest := step.NewestCopy(ledgerhome.Repositories(dr.observed.deliveries))
	for name, observed := range dr.observed.deliveries {
		if newest.Seq > 0 && ledgerhome.NameOf(observed) != home.ConfigRef && ledgerhome.MayRecord(observed) {
			d.composed[name] = compose.Withdraw(observed, withoutInvalidTimeouts(dr.in.Spec.DeliveryConfig), newest)
		}
	}
	return len(d.composed) > 0
}

// withUnreachableHome returns a decision with the reason why the home of a recorded ledger cannot be read or written now, if it cannot.
func (dr decider) withUnreachableHome(d Decision, home step.Home) Decision {
	observed := dr.observed.deliveries[dr.observed.homeDelivery(home.ConfigRef, dr.compiled.deliveries)]
	d.IsLedgerOverdue = ledgerhome.IsOverdue(observed)
	if d.IsLedgerOverdue || ledgerhome.IsDisconnected(observed) {
		d.LedgerUnreachable = ledgerhome.UnreachableMessage(observed, home.ConfigRef)
	}
	return d
}

// composeProposal composes the resources of a proposal. The home is asked first: another repository is asked for recorded positions only. The SiteSync and
// the Gates come with the home: each later addition costs the composite a write.
func (dr decider) composeProposal(d Decision, p proposedState) Decision {
	d = dr.withHoldReasons(d, p)
	switch {
	case p.state.Current == nil, p.holds.Start == step.HoldOutranked:
		d.Comparison = dr.observed.compareWithItself()
		return d
	case p.asked.isLost:
		d.Desired = dr.observed.deliveries
		return d
	}
	dr.composeGates(d)
	if dr.staysAsItIs(d, p) {
		return d
	}
	dr.composeDeliveries(d, p)
	if p.state.IsRejected() && p.state.Cursor.Attempt == 0 {
		return d // The SiteSync goes on as it is.
	}
	dr.composeSuccessors(d, p)
	dr.composeSync(d, p.state)
	return d
}

// staysAsItIs is true while no new revision may begin, and each resource asks for the recorded state, the home with the mandate for it. The tracks that a SiteSync
// observes follow from the reports of the repositories, too.
func (dr decider) staysAsItIs(d Decision, p proposedState) bool {
	if dr.isSyncOther(p) || p.state.HasTracks() || !p.asked.isResumed || p.state.IsRejected() || len(p.events) > 0 || d.Holds.Start == step.HoldVerdictWaits {
		return false
	}
	for name := range p.asked.deliveries {
		if !d.AsksForDesired(name) {
			return false
		}
	}
	return dr.hasProposedMandate(p)
}

// isSyncOther is true for a SiteSync that was lost, or that is about another position: it was composed with events that were not recorded.
func (dr decider) isSyncOther(p proposedState) bool {
	observed := dr.observed.sync
	return p.asked.sync != nil && (observed == nil || evidence.LatestPosition(observed) != p.state.Position())
}

// composeDeliveries composes the home with the events to record, and the others with the recorded state. While an event is to be recorded, the
// others stay as they are.
func (dr decider) composeDeliveries(d Decision, p proposedState) {
	recorded := p.home.State
	for name, desired := range p.asked.deliveries {
		observed := dr.observed.deliveries[name]
		switch {
		case name == p.asked.home:
			d.composed[name] = compose.Record(desired, observed, p.home.State.Head, p.events, dr.mandateOfState(p))
		case recorded.Head == p.state.Head:
			d.composed[name] = compose.Follow(name, desired, observed, recorded)
		}
	}
}

// composeSuccessors removes the deliveries that are not desired any more once their successors are in place: until the Sites run the revision, they
// stay.
func (dr decider) composeSuccessors(d Decision, p proposedState) {
	if p.asked.isResumed || p.state.IsRejected() {
		return
	}
	status := statusInput(dr.in, dr.observed, dr.compiled, d)
	isReady := phase.Ready(&status)
	for name := range dr.observed.deliveries {
		switch {
		case d.Desired[name] != nil:
		case isReady:
			delete(d.retained, name)
			delete(d.composed, name) // It may have been asked to record nothing any more.
		default:
			d.retained[name] = Resource{Object: compose.Supersede(d.retained[name].Object)}
		}
	}
}

// composeSync composes the SiteSync, if there is to be one, and the provider does not come to it by the ledger of the home.
func (dr decider) composeSync(d Decision, s ledger.State) {
	switch {
	case d.Sync == nil:
		delete(d.retained, compose.SyncName)
	case !dr.followsLedger(d.Sync, s):
		d.composed[compose.SyncName] = d.Sync
	}
}

// followsLedger is true for the SiteSync of a state that the provider observes without another spec. A move needs the trees that the function composes.
func (dr decider) followsLedger(desired *deliveryv1alpha1.SiteSync, s ledger.State) bool {
	observed := dr.observed.sync
	if observed == nil || s.IsMove() {
		return false
	}
	home := evidence.LeadingHome(dr.observed.allDeliveries(), observed)
	return home != nil && evidence.ShowsMandate(home) && compose.NeedsNoSpec(observed, desired, s.HasTracks())
}

// withHoldReasons returns a decision with the reason why no further event follows.
func (dr decider) withHoldReasons(d Decision, p proposedState) Decision {
	d.Comparison, d.left, d.Holds = p.proof, p.left, p.holds
	if p.holds.Start == step.HoldOutranked && p.state.Current.Request.Scheme <= digest.Scheme && p.state.Current.Request.Intent == dr.compiled.request.Intent {
		d.Holds.Start = step.HoldNone // The newer version of the function made the revision for the same request.
	}
	return d
}

// encodeResources returns the resources as they are applied, and which of them prove their desired state.
func encodeResources(d Decision) (map[string]Resource, error) {
	out := maps.Clone(d.retained)
	for name, composed := range d.composed {
		o, err := desired.Encode(composed)
		if err != nil {
			return nil, errors.Wrapf(err, "cannot encode composed resource %q", name)
		}
		out[name] = Resource{Object: o}
	}
	for name, r := range out {
		r.Ready = isResourceApplied(d, name)
		out[name] = r
	}
	return out, nil
}

// isResourceApplied is true for a composed resource that proves its desired state.
func isResourceApplied(d Decision, name string) bool {
	if d.State.Current == nil {
		return false
	}
	if name == compose.SyncName {
		return d.ObservedSync != nil && evidence.AreSitesLive(d.ObservedSync, d.State.Position())
	}
	if g := d.Gates[name]; g != nil {
		return evidence.GateVerdict(g) == rolloutv1alpha1.GatePassed || !evidence.IsGateOf(g, d.State) // Nothing waits for one of another step.
	}
	if d.Desired[name] == nil {
		return false
	}
	return d.IsProven(name)
}
