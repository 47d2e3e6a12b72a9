package observation

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/delivery/decision"
	"github.com/intentplane/intentplane/provider/mandate"
)

// actsByMandate is true for a home with a mandate that the provider carries out. It is false for a home that may not be written or is being deleted, and
// for a spec that lacks the files to move requests off a track: the function may render these files.
func (g *Gatherer) actsByMandate(d *v1alpha1.GitDelivery, f decision.Facts) bool {
	return g.mayAct(d) && f.HoldsLedger() && mandate.CanMoveRequests(f.Spec, f.DeliveredByPath())
}

// mayAct is true for a delivery whose repository the provider may write beyond the spec.
func (g *Gatherer) mayAct(d *v1alpha1.GitDelivery) bool {
	mayWrite := slices.ContainsFunc(d.GetManagementPolicies(), func(p xpv2.ManagementAction) bool {
		return p == xpv2.ManagementActionAll || p == xpv2.ManagementActionUpdate
	})
	return g.HonoursMandates && mayWrite && !meta.WasDeleted(d)
}

// mayFollowHome is true for a follower that may continue by the mandate of the home. It is false for a spec that lacks the files to move requests off a track:
// the function may render these files.
func (g *Gatherer) mayFollowHome(d *v1alpha1.GitDelivery, f decision.Facts) bool {
	mayFollow := f.Spec.Position != nil || len(f.Spec.Later) > 0
	return g.mayAct(d) && !f.HoldsLedger() && mayFollow && mandate.CanMoveRequests(f.Spec, f.DeliveredByPath())
}

// followHome returns the facts of a follower with the parameters derived from the ledger in the status of the home, if the home reached a state by its
// mandate that the follower's spec does not contain. It returns an error if the cache cannot be read.
func (g *Gatherer) followHome(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts) (decision.Facts, error) {
	if f.HoldsLedger() || len(f.Siblings) == 0 || !f.MayChangeState() {
		return f, nil
	}
	home := mandate.HomeOf(d, f.Siblings)
	if home == nil {
		return f, nil
	}
	follower, err := g.gatherFollower(ctx, d, f, home)
	if err != nil {
		return f, err
	}
	f.Spec, f.IsAhead = follower.FollowHome(f.Spec)
	return f, nil
}

// gatherFollower gathers the evidence by which a follower goes to the ledger of its home. In tracks the directories of all repositories and the proofs about
// their Sites decide on the trees.
func (g *Gatherer) gatherFollower(ctx context.Context, d *v1alpha1.GitDelivery, f decision.Facts, home *v1alpha1.GitDelivery) (mandate.Facts, error) {
	out := mandate.Facts{Home: home, Delivered: f.DeliveredByPath()}
	if f.IsInState() {
		out.Copy = f.Memory.Copy
	}
	if !home.Status.AtProvider.Ledger.HasTracks() {
		return out, nil
	}
	out.Self, out.Followers, out.Tracker = d, f.FollowersOf(home), g.Tracker
	return g.Witnesses.Gather(ctx, out)
}
