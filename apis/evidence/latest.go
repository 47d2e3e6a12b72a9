package evidence

import (
	"cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

// LatestPosition returns the position that the Sites of a SiteSync have to run: the position of the spec, or the observed position if the SiteSync followed
// the ledger to a later position of the revision, or of its rollback.
func LatestPosition(s *deliveryv1alpha1.SiteSync) ledger.Position {
	requested, observed := s.Spec.ForProvider.AskedPosition(), s.Status.AtProvider.ObservedPosition()
	isOfRevision := requested.Epoch == observed.Epoch && (requested.Revision == observed.Revision || observed.Attempt > 0)
	if isOfRevision && requested.Compare(observed) < 0 {
		return observed
	}
	return requested
}

// LatestTrees returns the trees that the Sites of a SiteSync have to run at the latest position, by the names of the Sites.
func LatestTrees(s *deliveryv1alpha1.SiteSync) map[string]string {
	out := make(map[string]string, len(s.Spec.ForProvider.Sites))
	if LatestPosition(s) == s.Spec.ForProvider.AskedPosition() {
		for _, t := range s.Spec.ForProvider.Sites {
			out[t.Name] = t.Tree
		}
		return out
	}
	for _, o := range s.Status.AtProvider.Sites {
		out[o.Name] = cmp.Or(o.DesiredTree, o.Tree)
	}
	return out
}
