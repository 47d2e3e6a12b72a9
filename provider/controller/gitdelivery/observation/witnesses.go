package observation

import (
	"context"
	"maps"
	"strings"

	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/usage"
)

// gatherWitnesses gathers the evidence for a home with a mandate: deliveries, SiteSyncs, Gates and RolloutRequests. It returns an error if the cache
// cannot be read.
func (g *Gatherer) gatherWitnesses(ctx context.Context, f decision.Facts) (mandate.Facts, error) {
	home := g.AsRead
	if f.Spec.Mandate == nil || home == nil {
		return mandate.Facts{}, nil
	}
	out := mandate.Facts{Home: home, Followers: f.FollowersOf(home), Delivered: f.DeliveredByPath(), Now: f.Ledger.Now, Tracker: g.Tracker}
	var err error
	if out, err = g.withSites(ctx, f, out); err != nil {
		return out, err
	}
	if f.IsInState() {
		out.Applied = f.Memory.Position
	}
	return g.Witnesses.Gather(ctx, out)
}

// withSites adds the Sites of all repositories to the evidence: the Sites without an engine, and the Sites without a later tree.
func (g *Gatherer) withSites(ctx context.Context, f decision.Facts, out mandate.Facts) (mandate.Facts, error) {
	matchLabels := f.Spec.Mandate.MatchLabels
	out.Unobserved, out.Closed = unobservedSites(f.AllSiteNames(), f.Sites), closedSites(f.Spec, matchLabels, f.Sites)
	for i := range out.Followers {
		names := usage.Sites(&out.Followers[i])
		sites, err := g.sitesByName(ctx, names)
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

// unobservedSites returns the Sites without an engine, and the missing Sites, and whether a delivered tree counts as live there.
func unobservedSites(names []string, sites map[string]*catalogv1alpha1.Site) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		if site := sites[name]; !site.HasEngine() {
			out[name] = site != nil && ptr.Deref(site.Spec.Engine.UnobservedIsLive, false)
		}
	}
	return out
}
