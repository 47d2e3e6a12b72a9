package gitdelivery

import (
	"context"
	"maps"
	"slices"
	"strings"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

// gatherWitnesses gathers the evidence for a home with a mandate: deliveries, SiteSyncs, Gates and RolloutRequests. It returns an error if the cache
// cannot be read.
func (e *external) gatherWitnesses(ctx context.Context, f facts) (mandate.Facts, error) {
	home := e.asRead
	if f.spec.Mandate == nil || home == nil {
		return mandate.Facts{}, nil
	}
	out := mandate.Facts{Home: home, Followers: f.followersOf(home), Delivered: f.deliveredByPath(), Now: f.ledger.now, Tracker: e.tracker}
	var err error
	if out, err = e.withSites(ctx, f, out); err != nil {
		return out, err
	}
	if f.isInState() {
		out.Applied = f.memory.Position
	}
	return e.witnesses.Gather(ctx, out)
}

// followersOf returns the deliveries to other repositories that may be evidence for a home.
func (f facts) followersOf(home *v1alpha1.GitDelivery) []v1alpha1.GitDelivery {
	return slices.DeleteFunc(slices.Clone(f.siblings), func(d v1alpha1.GitDelivery) bool {
		return d.Spec.ForProvider.Copy == nil || !mandate.IsWitness(&d, d.Spec.ForProvider.ClaimRef, home)
	})
}

// withSites adds the Sites of all repositories to the evidence: the Sites without an engine, and the Sites without a later tree.
func (e *external) withSites(ctx context.Context, f facts, out mandate.Facts) (mandate.Facts, error) {
	matchLabels := f.spec.Mandate.MatchLabels
	out.Unobserved, out.Closed = unobservedSites(f.allSiteNames(), f.sites), closedSites(f.spec, matchLabels, f.sites)
	for i := range out.Followers {
		names := usage.Sites(&out.Followers[i])
		sites, err := e.sitesByName(ctx, names)
		if err != nil {
			return out, err
		}
		maps.Copy(out.Unobserved, unobservedSites(names, sites))
		maps.Copy(out.Closed, closedSites(out.Followers[i].Spec.ForProvider, matchLabels, sites))
	}
	return out, nil
}

// closedSites returns the Sites that get no later tree of a delivery: the tree is for another directory than the Site has, or the Site is missing, may not be
// used, or lost a label by which the deployment selects it. A step at a Site that is missing or closed to the namespace would be refused, and the revision
// rejected at the Sites that run it.
func closedSites(p v1alpha1.GitDeliveryParameters, matchLabels map[string]string, sites map[string]*catalogv1alpha1.Site) map[string]bool {
	out := map[string]bool{}
	for _, l := range p.Later {
		site, claim := sites[l.Site], p.ClaimRef
		if site == nil || policy.CheckSite(site, claim.Namespace) != nil || !policy.HasLabels(site, matchLabels) || l.Layout != site.Spec.Repository.Layout ||
			!strings.HasSuffix("/"+l.Path, "/"+policy.Directory("", site.Spec.Repository.Path, claim.Namespace, claim.Name)) {
			out[l.Site] = true
		}
	}
	return out
}

// isInState is true where the state has the record of the repository.
func (f facts) isInState() bool { return f.memory != nil && !f.rebuilt && !f.memory.Deleted }

// deliveredByPath returns the directories of the branch that were delivered, of the present and of later steps.
func (f facts) deliveredByPath() map[string]v1alpha1.DeliveredTree {
	out := map[string]v1alpha1.DeliveredTree{}
	for t := range f.spec.EachTree() {
		if delivered, isKnown := f.deliveredTree(t.Branch, t.Path); isKnown {
			out[t.Path] = delivered.DeliveredTree
		}
	}
	return out
}
