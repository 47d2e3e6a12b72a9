package evidence

import (
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// LeadingHome returns the home whose ledger a SiteSync follows from the position of its spec, among the deliveries of the same controller: by a mandate the
// ledger may go on without the function. It is nil if there is none, if there are two homes, or if another delivery shows a ledger that supersedes that of the
// home.
func LeadingHome(siblings []*deliveryv1alpha1.GitDelivery, sync *deliveryv1alpha1.SiteSync) *deliveryv1alpha1.GitDelivery {
	var home *deliveryv1alpha1.GitDelivery
	for _, d := range siblings {
		if d.Spec.ForProvider.Ledger == nil {
			continue
		}
		if home != nil {
			return nil
		}
		home = d
	}
	if home == nil || !leadsSiteSync(home, sync) || slices.ContainsFunc(siblings, func(d *deliveryv1alpha1.GitDelivery) bool { return Supersedes(d, home) }) {
		return nil
	}
	return home
}

// leadsSiteSync is true for a home whose status shows its trees, and a ledger that has reached the position of a SiteSync in the same revision by a mandate. A rejected
// revision goes on once its rollback begins, and keeps a SiteSync at the position that it has reached.
func leadsSiteSync(home *deliveryv1alpha1.GitDelivery, sync *deliveryv1alpha1.SiteSync) bool {
	p, observed, requested := home.Spec.ForProvider, home.Status.AtProvider, sync.Spec.ForProvider.AskedPosition()
	if home.GetDeletionTimestamp() != nil || observed.Ledger == nil || !p.Mandate.Covers(*observed.Ledger) || len(p.Trees) > 0 && len(observed.Trees) == 0 {
		return false
	}
	s := *observed.Ledger
	isOfRevision := requested.Epoch == s.Epoch && (requested.Revision == s.Current.Number || requested.Revision == s.Withdraws)
	hasReached, hasFollowed := isOfRevision && requested.Compare(s.Position()) <= 0, LatestPosition(sync) != requested
	mayLead := !s.IsRejected() || s.Cursor.Attempt > 0
	return hasReached && (hasFollowed || mayLead && ShowsMandate(home)) // A SiteSync that followed before does not go back.
}

// ShowsMandate is true for a home whose status shows a mandate for the current revision of its ledger.
func ShowsMandate(home *deliveryv1alpha1.GitDelivery) bool {
	s, echo := home.Status.AtProvider.Ledger, home.Status.AtProvider.Mandate
	return s != nil && s.Current != nil && echo != nil && echo.Revision == s.Current.Number
}

// Supersedes is true for a delivery that shows a later epoch than a home of the same controller, or another ledger in the same epoch.
func Supersedes(d, home *deliveryv1alpha1.GitDelivery) bool {
	published, s := d.Status.AtProvider.Ledger, home.Status.AtProvider.Ledger
	if published == nil || s == nil || published.Seq == 0 || published.IsClosed {
		return false
	}
	return published.Epoch > s.Epoch || published.Epoch == s.Epoch && published.Ledger != s.Ledger
}
