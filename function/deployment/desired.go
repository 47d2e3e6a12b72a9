package deployment

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/rollout"
)

// A channel is what is known of the channel of Blueprints, beside the one that a deployment stays with.
type channel struct {
	pinned *rolloutv1alpha1.BlueprintReference
	// lost says that the pinned Blueprint does not exist any more.
	isPinnedGone bool
	// now is the name of the object in the channel. It is empty when there is none, and when nothing is pinned.
	newest string
}

// pinBlueprint returns the name of the Blueprint to stay with, or none.
func (c *channel) pinBlueprint(b *rolloutv1alpha1.BlueprintReference) string {
	c.pinned = b
	return PinnedName(b)
}

// PinnedName returns the name that a pinned Blueprint is requested by, or none: one that was chosen by its version is requested by that.
func PinnedName(b *rolloutv1alpha1.BlueprintReference) string {
	if b == nil || b.Channel == "" {
		return ""
	}
	return b.Name
}

// noteSelection notes what the catalog resolved to.
func (c *channel) noteSelection(s *catalog.Selection, err error) {
	if c.pinned == nil {
		return
	}
	if s != nil {
		c.newest = s.InChannel
	}
	if e := (&catalog.MissingError{}); errors.As(err, &e) && e.InChannel != "" {
		c.newest, c.isPinnedGone = e.InChannel, true
	}
}

// checkDigest returns a problem when the object under the pinned name is another one than was ordered.
func (c *channel) checkDigest(digest string) error {
	err := CheckPinned(c.pinned, digest)
	if err == nil {
		return nil
	}
	if c.isPinnedGone = true; c.pinned.Channel == "" {
		c.newest = c.pinned.Name
	}
	return err
}

// CheckPinned returns an error, whose reason ReasonOf returns, when the Blueprint under the pinned name has another digest than the pinned one.
func CheckPinned(pinned *rolloutv1alpha1.BlueprintReference, digest string) error {
	if pinned == nil || pinned.Digest == "" || pinned.Digest == digest {
		return nil
	}
	return pendingProblem(deploymentv1alpha1.ReasonBlueprintMissing,
		"Blueprint "+pinned.Name+", which the deployment stays with until a user approves another one, is not the one that was ordered: it was deleted and created again")
}

// waitingBlueprint returns the name of the Blueprint that waits to be approved, or none.
func (c *channel) waitingBlueprint() string {
	if c.pinned == nil || c.newest == c.pinned.Name && !c.isPinnedGone {
		return ""
	}
	return c.newest
}

// desiredRequest returns the revision that the spec asks for with a Blueprint, as far as it is known before rendering.
func (c *Core) desiredRequest(in Input, o Observed, i intent.Intent, s *catalog.Selection, blueprint string) (rollout.Wish, error) {
	// The objectives of the intent are in the gates.
	text := string(i.WithoutSLOs().Canonical())
	r, err := rollout.NewRequest(in.Spec, text, s, blueprint, c.version)
	if err != nil {
		return rollout.Wish{}, err
	}
	w := rollout.Wish{Request: r, Before: r.Digest, Hold: c.defersRenderer(in), Manual: needsApproval(in)}
	if o.order == nil {
		return w, nil
	}
	w.Also = compose.Also(o.deliveries, *o.order)
	if o.order.RendererVersion != c.version {
		before, err := rollout.NewRequest(in.Spec, text, s, blueprint, o.order.RendererVersion)
		if err != nil {
			return w, err
		}
		w.Before = before.Digest
	}
	return w, nil
}

// defersRenderer is true when a new renderer alone begins no revision: where a user has to approve it, and where it is not the
// deployment's turn. It is the one decision that depends on the time. Deployments that took a new renderer at once would all be delivered at once,
// and nothing records whose turn it was.
func (c *Core) defersRenderer(in Input) bool {
	return needsApproval(in) || c.slotOf(in).Wait(in.Now.Time) > 0
}

func (c *Core) slotOf(in Input) rollout.Slot { return rollout.SlotOf(in.Claim, c.version, c.spread) }

// rendererSlot returns when it is the deployment's turn to take a new renderer, which it waits for.
func (c *Core) rendererSlot(in Input, o Observed, k Compiled) recheck {
	slot := c.slotOf(in)
	if k.Problem != nil || o.order == nil || needsApproval(in) || slot.Always() || !rollout.OnlyRenderer(*o.order, k.desired) {
		return recheck{}
	}
	return recheck{}.rescheduleIn(slot.Wait(in.Now.Time))
}

// needsApproval is true where a user approves updates.
func needsApproval(in Input) bool {
	return in.Spec.Blueprint.UpdatePolicy == deploymentv1alpha1.UpdateManual
}

// compareWithOrder returns the desired revision with what is known of it beside the order, from the deliveries that it comes to.
func compareWithOrder(in Input, o Observed, k Compiled, inherited map[string]*deliveryv1alpha1.GitDelivery) rollout.Wish {
	w := k.desired
	w.Eased = isAdoptEnabled(in, o)
	if o.order == nil {
		return w
	}
	w.Untold = compose.Untold(inherited, o.deliveries, *o.order)
	w.Awaited = compose.Awaits(inherited, o.deliveries, *o.order, k.clustered)
	w.Unchanged = hasTreesOfOrder(o, k, inherited) && !changesChecks(o, k)
	w.InFlight = isVerdictComing(in, o, k.unobserved)
	return w
}

// hasTreesOfOrder is true when deliveries ask for the trees of the order, in the repositories that it is for.
func hasTreesOfOrder(o Observed, k Compiled, ds map[string]*deliveryv1alpha1.GitDelivery) bool {
	// Where only the renderer changed, each delivery goes to the repository that it went to, whatever its name says.
	asked := rollout.Asked(*o.order, k.desired)
	ds = compose.Await(ds, o.deliveries, o.sync, *o.order, k.clustered)
	wanted, observed := compose.ByRepository(ds, ds, asked), compose.ByRepository(o.deliveries, ds, asked)
	return maps.Equal(compose.TreeIDs(wanted), compose.AskedIDs(observed, *o.order))
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

// isVerdictComing is true for an order without a verdict that will be judged without any further change: it is at its last step, whose trees the
// objects hold, and nothing hinders it. What hinders it may be just what a change of the catalog repairs.
func isVerdictComing(in Input, o Observed, unobserved map[string]bool) bool {
	if o.order.Verdict != nil || o.order.Step+1 < o.order.Steps {
		return false
	}
	parts := compose.Parts(o.deliveries, nil, *o.order)
	if !compose.Covers(parts, *o.order) || !agreesWith(o, *o.order) {
		return false
	}
	c := o.comparison()
	c.Unobserved = unobserved
	c.Desired = compose.Resume(parts, in.Spec.DeliveryConfig, *o.order)
	return c.WatchesEveryEngine() && c.IsUnhindered()
}
