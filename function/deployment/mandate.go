package deployment

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose/tracks"
)

// mandateOfState returns the mandate for the current revision of a proposed state, or nil where nothing follows in its ledger. A home keeps its mandate where
// no other event would follow by another one, or once the revision came to its end: the object would change, and the deployment become unready, for nothing.
func (dr decider) mandateOfState(p proposedState) *deliveryv1alpha1.Mandate {
	out := dr.newMandateOfSpec(p.state)
	home := dr.observed.deliveries[p.asked.home]
	if home == nil || home.Spec.ForProvider.Ledger == nil {
		return out
	}
	isAtEnd := p.proof.HasSucceeded() || p.proof.HasRolledBack()
	if m := home.Spec.ForProvider.Mandate; isAtEnd && isMandateInPlace(home, p.state) || p.state.IsRejected() && hasSameEffect(m, out) {
		return m
	}
	return out
}

// isMandateInPlace is true for a home whose spec has the position of a state, beside a mandate for its revision, or none. A position and a mandate are composed
// from one state: the spec of a home that was lost begins with revision 1 of another ledger, and both change once its status has its own ledger.
func isMandateInPlace(home *deliveryv1alpha1.GitDelivery, s ledger.State) bool {
	m := home.Spec.ForProvider.Mandate
	isForRevision := m == nil || m.Revision == s.Current.Number && m.Covers(s)
	return isForRevision && evidence.AsksForPosition(home, s.Position())
}

// hasSameEffect is true for mandates by which the same events follow in a rejected revision. Suspension, the labels of Sites and the digest of the spec hold
// back only events that go forward.
func hasSameEffect(a, b *deliveryv1alpha1.Mandate) bool {
	if a == nil || b == nil {
		return a == b
	}
	copied := *b
	copied.Suspended, copied.MatchLabels, copied.Spec = a.Suspended, a.MatchLabels, a.Spec
	return equality.Semantic.DeepEqual(*a, copied)
}

// hasProposedMandate is true for a home that has the mandate for a proposed state.
func (dr decider) hasProposedMandate(p proposedState) bool {
	home := dr.observed.deliveries[p.asked.home]
	return home != nil && equality.Semantic.DeepEqual(home.Spec.ForProvider.Mandate, dr.mandateOfState(p))
}

// newMandateOfSpec returns a mandate by the spec as it is now. An invalid timeout is the default, as in a rollback by the function.
func (dr decider) newMandateOfSpec(s ledger.State) *deliveryv1alpha1.Mandate {
	policy := rollbackPolicy(dr.in)
	out := &deliveryv1alpha1.Mandate{
		Rules: step.Rules, Ledger: s.Ledger, Epoch: s.Epoch, Revision: s.Current.Number, May: step.Kinds(),
		Rollback: deliveryv1alpha1.MandatedRollback{
			AutoRollback: policy.AutoRollback, MaxRetries: policy.MaxRetries, MaxPerHour: policy.MaxPerHour, AttemptTimeout: attemptTimeout(dr.in),
		},
		Suspended: *dr.in.Spec.Suspend, Without: dr.sitesLeftBySpec(s), MatchLabels: dr.compiled.siteLabels, Spec: dr.observed.specDigest,
	}
	if s.HasTracks() {
		out.Drain = tracks.Drain(dr.in.Spec.DeliveryConfig)
	}
	if !out.Covers(s) {
		return nil
	}
	return out
}

// sitesLeftBySpec returns the Sites of the current revision that the deployment is not for any more, as far as that is known.
func (dr decider) sitesLeftBySpec(s ledger.State) []string {
	var out []string
	for _, part := range s.Current.Parts {
		for _, site := range part.Sites {
			if !dr.compiled.isChosenSite(site) {
				out = append(out, site)
			}
		}
	}
	slices.Sort(out)
	return out
}

// isLeftToProvider is true for an event that the provider records on top of the recorded state by the mandate of the home, as its status says. A successor of
// proposed events goes with them.
func (dr decider) isLeftToProvider(p proposedState, e ledger.Event) bool {
	home := dr.observed.deliveries[p.asked.home]
	if home == nil || p.state.Head != p.home.State.Head || !home.Spec.ForProvider.Mandate.Covers(p.state) {
		return false
	}
	echo, kind := home.Status.AtProvider.Mandate, step.KindOf(p.state, e)
	return echo != nil && kind != "" && echo.Rules == step.Rules && echo.Revision == p.state.Current.Number && slices.Contains(echo.May, kind)
}
