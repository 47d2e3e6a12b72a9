package v1alpha1

import (
	"cmp"

	"k8s.io/utils/ptr"

	"github.com/intentplane/intentplane/apis/ledger"
)

// AskedPosition returns the position of the spec, which the Sites have to run.
func (p SiteSyncParameters) AskedPosition() ledger.Position {
	return ptr.Deref(p.Position, ledger.Position{})
}

// ObservedPosition returns the position that an observation is about. It is the zero value if nothing was observed.
func (o SiteSyncObservation) ObservedPosition() ledger.Position {
	return ptr.Deref(o.Position, ledger.Position{})
}

// LatestPosition returns the position that the Sites have to run: the position of the spec, or the observed position if the SiteSync followed the ledger to a
// later position of the revision, or of its rollback.
func (s *SiteSync) LatestPosition() ledger.Position {
	requested, observed := s.Spec.ForProvider.AskedPosition(), s.Status.AtProvider.ObservedPosition()
	isOfRevision := requested.Epoch == observed.Epoch && (requested.Revision == observed.Revision || observed.Attempt > 0)
	if isOfRevision && requested.Compare(observed) < 0 {
		return observed
	}
	return requested
}

// LatestTrees returns the trees that the Sites have to run at the latest position, by the names of the Sites.
func (s *SiteSync) LatestTrees() map[string]string {
	out := make(map[string]string, len(s.Spec.ForProvider.Sites))
	if s.LatestPosition() == s.Spec.ForProvider.AskedPosition() {
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
