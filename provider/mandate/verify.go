package mandate

import (
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// provenTrees returns the trees of a later rollback to the revision of a state, for each Site of its plan. It returns false if one is unknown.
func (f Facts) provenTrees(s ledger.State) ([]ledger.SiteTree, bool) {
	var out []ledger.SiteTree
	for _, site := range s.Current.Sites() {
		t, ok := f.rollbackTree(s, site)
		if !ok {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

// rollbackTree returns the tree of a later rollback to the revision of a state at a Site: the delivered tree, and in tracks the tree in which the revision is
// alone.
func (f Facts) rollbackTree(s ledger.State, site string) (ledger.SiteTree, bool) {
	part := partWithSite(site, s)
	if part == nil {
		return ledger.SiteTree{}, false
	}
	delivered, isKnown := f.deliveredBy(s, *part, site)
	if !isKnown || delivered.Tree == "" || !s.HasTracks() {
		return ledger.SiteTree{Site: site, ID: delivered.Tree}, isKnown && delivered.Tree != ""
	}
	d := f.deliveryOfPart(*part)
	t, ok := requestedTree(d, site)
	if !ok {
		return ledger.SiteTree{}, false
	}
	if later := directories.LaterOf(d.Spec.ForProvider, t, s); later != nil {
		return f.trackerOrDefault().Alone(directories.NewDirectory(s, later.Tree))
	}
	return f.trackerOrDefault().Alone(directories.NewDirectory(s, t).WithoutOtherFiles())
}
