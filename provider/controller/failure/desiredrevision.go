package failure

import (
	"slices"
	"time"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// A desiredRevision has the properties of a delivery's desired revision that reports depend on.
type desiredRevision struct {
	number int64
	// step that is carried out, and the Sites of all steps.
	step  int
	sites [][]string
	// isRejected is true if the revision must not run, and isWithdrawal if a user requested its rollback.
	isRejected, isWithdrawal bool
}

// desiredRevisionOf returns the desired revision of a delivery.
func desiredRevisionOf(d *deliveryv1alpha1.GitDelivery) desiredRevision {
	p := d.Spec.ForProvider
	s, position := desiredState(d), p.AskedPosition()
	out := desiredRevision{number: position.Revision, step: int(position.Step)}
	if s.Current == nil || s.Current.Number != position.Revision {
		return out
	}
	out.isRejected, out.isWithdrawal = s.IsRejected(), s.Withdraws != 0
	for _, step := range s.Current.Plan {
		out.sites = append(out.sites, step.Sites)
	}
	return out
}

// desiredState returns the state of the ledger that a delivery has to carry out: in the home, the state after the pending events.
func desiredState(d *deliveryv1alpha1.GitDelivery) ledger.State {
	p := d.Spec.ForProvider
	if p.Copy != nil {
		return *p.Copy
	}
	s := ledger.State{}
	if d.Status.AtProvider.Ledger != nil {
		s = *d.Status.AtProvider.Ledger
	}
	if p.Ledger == nil || p.Ledger.After != s.Head {
		return s // The events were recorded, or never will be.
	}
	next, err := ledger.Append(s, time.Time{}, p.Ledger.Events...)
	if err != nil {
		return s
	}
	return next
}

// requestDigest returns the digest of the request of a revision, from the ledger that one of the deliveries holds or has a copy of, or "".
func requestDigest(parts []deliveryv1alpha1.GitDelivery, revision int64) string {
	for i := range parts {
		if digest := desiredState(&parts[i]).RequestDigest(revision); digest != "" {
			return digest
		}
	}
	return ""
}

// isAwaitingStep reports whether the step of a Site was not reached. Sites that no step names belong to the last one.
func (a desiredRevision) isAwaitingStep(site string) bool {
	step := slices.IndexFunc(a.sites, func(sites []string) bool { return slices.Contains(sites, site) })
	if step < 0 {
		step = len(a.sites) - 1
	}
	return step > a.step
}
