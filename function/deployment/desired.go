package deployment

import (
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/function/slot"
)

// blueprintOf returns the Blueprint of the current revision, or nil.
func blueprintOf(s ledger.State) *ledger.BlueprintReference {
	if s.Current == nil {
		return nil
	}
	return s.Current.Blueprint
}

func (c *Core) slotOfDeployment(in Input) slot.Slot { return slot.Of(in.Claim, c.version, c.spread) }

// rendererSlot returns when it is the deployment's turn to take a new renderer, which it waits for.
func (c *Core) rendererSlot(in Input, o Observed, k Compiled) recheck {
	turn := c.slotOfDeployment(in)
	if k.Problem != nil || o.state.Current == nil || needsApproval(in) || turn.Always() || !isOnlyRenderer(o, k.desired) {
		return recheck{}
	}
	return recheck{isDated: true, wait: turn.Wait(in.Now.Time)}
}

// needsApproval is true where a user approves updates.
func needsApproval(in Input) bool {
	return in.Spec.Blueprint.UpdatePolicy == deploymentv1alpha1.UpdateManual
}

// isOnlyRenderer is true if nothing changed since a revision but the renderer, and trees with it.
func isOnlyRenderer(o Observed, d step.Desired) bool {
	return o.state.Current != nil && d.Request.HasNewerRenderer(o.state.Current.Request) && !d.HasSameTrees
}

// rendererHold returns the reason why a new renderer alone begins no revision now: a user has to approve it, or the deployment's time of the day has not
// come. It is the only decision that depends on the time. Without it all deployments would deliver a new renderer at once, and no record of a turn is kept.
func (c *Core) rendererHold(in Input) step.Hold {
	switch {
	case needsApproval(in):
		return step.HoldApprovalWaits
	case c.slotOfDeployment(in).Wait(in.Now.Time) > 0:
		return step.HoldRendererWaits
	}
	return step.HoldNone
}

// desiredRevision returns the desired revision of the spec, from its compiled deliveries.
func (c *Core) desiredRevision(in Input, o Observed, k Compiled, inherited map[string]*deliveryv1alpha1.GitDelivery) step.Desired {
	out := step.Desired{
		Request: k.request.Request, Blueprint: k.request.Blueprint, Plan: k.request.Plan, Parts: ledgerhome.PartsOf(inherited),
		AdoptEnabled: isAdoptEnabled(in, o), RendererHold: c.rendererHold(in),
	}
	if o.state.Current == nil {
		return out
	}
	out.AwaitsCluster = compose.HasUnreadySites(inherited, o.deliveries, o.state, k.clustered)
	out.HasSameTrees = o.state.IsAtLastStep() && hasTreesOfRevision(o, k, inherited) && !changesChecks(o, k)
	out.VerdictIsComing = isVerdictComing(in, o, k)
	return out
}

// hasTreesOfRevision is true when deliveries ask for the trees of the current revision, in the repositories that it is for. A delivery to the home of a
// ledger that was forced there may ask for all that the spec delivers now, and the revision that continues was for other repositories too.
func hasTreesOfRevision(o Observed, k Compiled, ds map[string]*deliveryv1alpha1.GitDelivery) bool {
	// If only the renderer changed, each delivery keeps its repository, whatever its name is.
	isRequested := k.request.HasSourcesOf(o.state.Current.Request)
	if !isRequested && !slices.EqualFunc(ledgerhome.PartsOf(ds), o.state.Current.Parts, hasSameSites) {
		return false
	}
	ds = compose.RetainUnreadySites(ds, o.deliveries, o.sync, o.state, k.clustered)
	wanted, observed := compose.ByRepository(ds, ds, isRequested), compose.ByRepository(o.partsOfRevision(), ds, isRequested)
	return maps.Equal(compose.TreeIDs(wanted), compose.AskedIDs(observed, o.state.Current.Number))
}

// hasSameSites is true for two parts of revisions that one delivery brings to the same Sites.
func hasSameSites(a, b ledger.Part) bool {
	return a.Delivery == b.Delivery && slices.Equal(a.Sites, b.Sites)
}

// isAdoptEnabled is true when unmanaged files may be overwritten now, and some delivery does not allow it.
func isAdoptEnabled(in Input, o Observed) bool {
	for _, d := range o.deliveries {
		adopt := d.Spec.ForProvider.Adopt
		if *in.Spec.DeliveryConfig.Adopt && (adopt == nil || !*adopt) {
			return true
		}
	}
	return false
}

// isVerdictComing is true for a revision without a verdict that will be judged without any further change: the objects hold its trees, those of the next step
// among them, and nothing hinders it. An obstacle may be the very problem that a change of the catalog repairs.
func isVerdictComing(in Input, o Observed, k Compiled) bool {
	if o.state.Verdict != nil || !o.state.IsAtLastStep() && !o.holdsFilesOfStep(o.state, k) {
		return false
	}
	parts := o.partsOfRevision()
	if !compose.CanResume(parts, o.state) {
		return false
	}
	c := o.compareWithItself()
	c.Unobserved = k.unobserved
	c.Desired = compose.Step(compose.Resume(parts, in.Spec.DeliveryConfig), o.state)
	return c.WatchesEveryEngine() && c.IsUnhindered()
}

// partsOfRevision returns the deliveries of the current revision.
func (o Observed) partsOfRevision() map[string]*deliveryv1alpha1.GitDelivery {
	return compose.Parts(o.deliveries, nil, *o.state.Current)
}
