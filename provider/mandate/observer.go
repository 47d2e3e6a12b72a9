package mandate

import (
	"cmp"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
)

// FollowLedger returns the parameters of a SiteSync for the ledger in the status of the home, and whether the ledger is at a later position than the spec.
// Where no home leads the SiteSync, these are the parameters of the spec. all are the deliveries of the claim. The traffic of a directory lacks the routes and
// the workloads, which only its files have.
func FollowLedger(sync *v1alpha1.SiteSync, all []v1alpha1.GitDelivery) (v1alpha1.SiteSyncParameters, bool) {
	p := *sync.Spec.ForProvider.DeepCopy()
	var siblings []*v1alpha1.GitDelivery
	for i := range all {
		if isSiblingObject(sync, p.ClaimRef, &all[i]) {
			siblings = append(siblings, &all[i])
		}
	}
	home := evidence.LeadingHome(siblings, sync)
	if home == nil {
		return p, false
	}
	s := *home.Status.AtProvider.Ledger
	if p.AskedPosition() == s.Position() {
		p.Promoted = p.Promoted || p.Pause != "" && s.IsPauseReleased()
		return p, false
	}
	p.Position, p.Pause = new(s.Position()), s.PauseAfterStep()
	p.Promoted = p.Pause != "" && s.IsPauseReleased()
	if s.Cursor.Attempt > 0 {
		timeout := mandateTimeout(*home.Spec.ForProvider.Mandate).String()
		p.SyncWaitTimeout, p.ClusterWaitTimeout = timeout, timeout
	}
	switch f := (Facts{Home: home}); {
	case s.Cursor.Attempt > 0 && !s.HasTracks():
		p.Sites = f.restoredSites(p.Sites, siblings, s)
	case involvesTracks(s):
		p.Sites = f.deliveredSites(p.Sites, siblings, s)
	}
	return p, true
}

// restoredSites returns the Sites at which a rollback restores trees: these Sites have to run them.
func (f Facts) restoredSites(observed []v1alpha1.SiteTree, siblings []*v1alpha1.GitDelivery, s ledger.State) []v1alpha1.SiteTree {
	var out []v1alpha1.SiteTree
	for _, d := range siblings {
		if partOfDelivery(d, s) == nil {
			continue
		}
		for _, t := range f.followedDelivery(d, s).Spec.ForProvider.Trees {
			isObserved := slices.ContainsFunc(observed, func(o v1alpha1.SiteTree) bool { return o.Name == t.Site })
			if isObserved && t.Action != v1alpha1.ActionKeep {
				out = append(out, directories.SiteToObserve(d, t, s.StepOf(t.Site)))
			}
		}
	}
	slices.SortFunc(out, func(a, b v1alpha1.SiteTree) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// deliveredSites returns the Sites of a deployment in tracks with the trees and the traffic of their directories. A Site has no tree while its directory has
// not come to the state: the proofs about its tracks stay. A rollback leaves out the Sites that have no directory, and get none.
func (f Facts) deliveredSites(observed []v1alpha1.SiteTree, siblings []*v1alpha1.GitDelivery, s ledger.State) []v1alpha1.SiteTree {
	var out []v1alpha1.SiteTree
	targets := directories.TargetTrees(s)
	for _, site := range observed {
		d := f.deliveryToSite(site.Name, siblings, s)
		delivered, _ := evidence.HeldTree(d, site.Path)
		if _, isServed := targets[site.Name]; s.Cursor.Attempt > 0 && delivered.Tree == "" && !isServed {
			continue
		}
		site.Traffic = directories.DeliveredTraffic(s, delivered, f.Home.Spec.ForProvider.Mandate.Drain)
		if site.Wave, site.Tree = directories.WaveToObserve(s, site.Name, delivered), ""; f.hasDelivered(d, site.Name, delivered, s) {
			site.Tree = delivered.Tree
		}
		out = append(out, site)
	}
	return out
}

// deliveryToSite returns the delivery of the part of a revision with a Site, nil if it was lost, and the home for a Site in no part.
func (f Facts) deliveryToSite(site string, siblings []*v1alpha1.GitDelivery, s ledger.State) *v1alpha1.GitDelivery {
	part := partWithSite(site, s)
	if part == nil || f.isHomePart(*part) {
		return f.Home
	}
	i := slices.IndexFunc(siblings, func(d *v1alpha1.GitDelivery) bool { return xcrd.GetCompositionResourceName(d) == part.Delivery })
	if i < 0 {
		return nil
	}
	return siblings[i]
}

// hasDelivered is true for a directory that has come to a state of a deployment in tracks. In the steps it has the revision: a directory stays as it is while
// the cluster of its Site is not ready. A rollback ends with the tree of the target.
func (f Facts) hasDelivered(d *v1alpha1.GitDelivery, site string, delivered v1alpha1.DeliveredTree, s ledger.State) bool {
	want, isServed := directories.TargetTrees(s)[site]
	switch {
	case delivered.Tree == "" || d.Status.AtProvider.AppliedPosition() != s.Position():
		return false
	case s.IsBeforeSteps():
		return true
	case s.Cursor.Attempt == 0:
		return hasRevision(delivered, s.Current.Number)
	}
	return !isServed || !f.isChosenSite(site) || delivered.Tree == want
}

// hasRevision is true for a directory that a revision wrote, in a track or alone.
func hasRevision(delivered v1alpha1.DeliveredTree, revision int64) bool {
	if len(delivered.Tracks) == 0 {
		return delivered.Revision == revision
	}
	return slices.ContainsFunc(delivered.Tracks, func(t v1alpha1.DeliveredTrack) bool { return t.Revision == revision })
}
