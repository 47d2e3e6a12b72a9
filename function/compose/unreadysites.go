package compose

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// HasUnreadySites is true for a revision that some Site still waits for: it was not asked for there, since its cluster was not ready. The tree for
// that Site is in no object.
func HasUnreadySites(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, s ledger.State, clustered map[string]bool) bool {
	for name, d := range wanted {
		for _, t := range d.Spec.ForProvider.Trees {
			_, through := requestedTree(t, observed[name], s)
			isAsked := observed[name] != nil && AsksForRevision(observed[name], s.Current.Number)
			if clustered[t.Site] && !through && s.Verdict == nil && isAsked {
				return true
			}
		}
	}
	return false
}

// RetainUnreadySites returns the deliveries of a revision while Sites wait for their clusters: their directories stay as they are. A cluster
// that the SiteSync saw ready for the revision lets its Site through, and the tree of that Site is requested from then on.
func RetainUnreadySites(wanted, observed map[string]*deliveryv1alpha1.GitDelivery, sync *deliveryv1alpha1.SiteSync, s ledger.State, clustered map[string]bool) map[string]*deliveryv1alpha1.GitDelivery {
	return mapDeliveryTrees(wanted, func(name string, t deliveryv1alpha1.Tree) deliveryv1alpha1.Tree {
		if _, through := requestedTree(t, observed[name], s); clustered[t.Site] && !through && !evidence.AdmitsTree(sync, s, t) {
			return directories.Retain(t)
		}
		return t
	})
}
