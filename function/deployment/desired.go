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
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// A channel is where newer Blueprints come from, seen from the one that a deployment stays with.
type channel struct {
	pinned *rolloutv1alpha1.BlueprintReference
	// lost is true when the pinned Blueprint is not there any more.
	lost bool
	// now is the name of the object in the channel. It is empty when there is none, and when nothing is pinned.
	now string
}

// pin returns the name of the Blueprint to stay with, or none.
func (c *channel) pin(b *rolloutv1alpha1.BlueprintReference) string {
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

func (c *channel) see(s *catalog.Selection, err error) {
	if c.pinned == nil {
		return
	}
	if s != nil {
		c.now = s.InChannel
	}
	if e := (&catalog.MissingError{}); errors.As(err, &e) && e.InChannel != "" {
		c.now, c.lost = e.InChannel, true
	}
}

// check returns a problem when the object under the pinned name is another one than was ordered.
func (c *channel) check(digest string) error {
	err := CheckPinned(c.pinned, digest)
	if err == nil {
		return nil
	}
	if c.lost = true; c.pinned.Channel == "" {
		c.now = c.pinned.Name
	}
	return err
}

// CheckPinned returns an error, whose reason ReasonOf returns, when the Blueprint under the pinned name has another digest than the pinned one.
func CheckPinned(pinned *rolloutv1alpha1.BlueprintReference, digest string) error {
	if pinned == nil || pinned.Digest == "" || pinned.Digest == digest {
		return nil
	}
	return missing(deploymentv1alpha1.ReasonBlueprintMissing,
		"Blueprint "+pinned.Name+", which the deployment stays with until somebody approves another one, is not the one that was ordered: it was made anew")
}

// waiting is the name of the Blueprint that waits to be approved, or none.
func (c *channel) waiting() string {
	if c.pinned == nil || c.now == c.pinned.Name && !c.lost {
		return ""
	}
	return c.now
}

// wish is what is asked for with a Blueprint.
func (c *Core) wish(in Input, f *phase.Input, i intent.Intent, s *catalog.Selection, blueprint string) (rollout.Wish, error) {
	// What a revision is judged by is in the gates, from wherever it was said.
	said := string(i.WithoutSLOs().Canonical())
	r, err := rollout.NewRequest(in.Spec, said, s, blueprint, c.version)
	if err != nil {
		return rollout.Wish{}, err
	}
	w := rollout.Wish{Request: r, Before: r.Digest, Hold: c.holds(in), Manual: manual(in)}
	if f.Order == nil {
		return w, nil
	}
	w.Also = compose.Also(f.Observed, *f.Order)
	if f.Order.RendererVersion != c.version {
		before, err := rollout.NewRequest(in.Spec, said, s, blueprint, f.Order.RendererVersion)
		if err != nil {
			return w, err
		}
		w.Before = before.Digest
	}
	return w, nil
}

// holds is true when a new renderer alone is no reason for a revision: where somebody has to approve it, and where it is not the
// deployment's turn. It is the one decision that depends on the time. Deployments that took a new renderer all at once would all be
// delivered at once, and nothing remembers who had their turn.
func (c *Core) holds(in Input) bool {
	return manual(in) || c.slot(in).Wait(in.Now.Time) > 0
}

func (c *Core) slot(in Input) rollout.Slot { return rollout.SlotOf(in.Claim, c.version, c.spread) }

func manual(in Input) bool {
	return in.Spec.Blueprint.UpdatePolicy == deploymentv1alpha1.UpdateManual
}

// unchanged is true when deliveries ask for the trees of the order, in the repositories that it is for.
func (p plan) unchanged(f *phase.Input, ds map[string]*deliveryv1alpha1.GitDelivery) bool {
	if f.Order == nil {
		return false
	}
	asked := onlyVersions(f, p.wish)
	ds = compose.Await(ds, f.Observed, f.ObservedSync, *f.Order, p.clustered)
	wanted, observed := compose.ByRepository(ds, ds, asked), compose.ByRepository(f.Observed, ds, asked)
	return maps.Equal(compose.TreeIDs(wanted), compose.AskedIDs(observed, *f.Order))
}

// onlyVersions is true when the request is that of the order, but for the renderer. Then each delivery goes to the repository that it
// went to, whatever its name says.
func onlyVersions(f *phase.Input, w rollout.Wish) bool {
	return f.Order != nil && rollout.Asked(*f.Order, w)
}

// eased is true when strangers' files may be overwritten now, and some delivery was not told so.
func eased(in Input, f *phase.Input) bool {
	told := func(d *deliveryv1alpha1.GitDelivery) bool {
		adopt := d.Spec.ForProvider.Adopt
		return adopt != nil && *adopt
	}
	for _, d := range f.Observed {
		if *in.Spec.DeliveryConfig.Adopt && !told(d) {
			return true
		}
	}
	return false
}

// inFlight is true for an order without a verdict that one will come for by itself: it is at its last step, whose trees the objects hold,
// and nothing is in its way. What is in the way may be just what the catalog mends.
func inFlight(in Input, f *phase.Input, unobserved map[string]bool) bool {
	if f.Order == nil || f.Order.Verdict != nil || f.Order.Step+1 < f.Order.Steps {
		return false
	}
	parts := compose.Parts(f.Observed, nil, *f.Order)
	if !compose.Covers(parts, *f.Order) || !agreed(f, *f.Order) {
		return false
	}
	trial := *f
	trial.Unobserved = unobserved
	trial.Desired = compose.Resume(parts, in.Spec.DeliveryConfig, *f.Order)
	trial.Sync = f.ObservedSync
	return trial.WatchesEveryEngine() && trial.IsUnhindered()
}
