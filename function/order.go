package function

import (
	"maps"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// Bounds of the timeouts that others keep for us.
const (
	shortestTimeout = time.Second
	longestTimeout  = 24 * time.Hour
)

// order goes on with the current order, or starts the next revision, and asks for what carries it out.
func (p plan) order(in Input, f *phase.Facts, out *Output) error {
	all := slices.Collect(maps.Values(f.Observed))
	current, conflict := rollout.Current(all)
	if conflict {
		p.wish.Carried = rollout.Carried(all, p.wish.Request.Intent)
	}
	next, held := rollout.Next(current, conflict, p.wish)
	if p.obeyed != nil && rollout.Meant(next, p.obeyed) {
		next = rollout.Obey(next, p.obeyed)
	}
	if *in.Spec.Suspend && (current == nil || !rollout.Same(next, *current)) && !next.Rejected() {
		f.Suspended = true
		return p.resume(in, f, out, current)
	}
	// A newer version of us ordered this, and it alone knows which trees belong to it.
	if outranks(next, p.wish.Request) {
		f.Outranked = rollout.Newer(next) || next.Intent != p.wish.Request.Intent
		return nil
	}
	f.Unobserved = p.unobserved
	// Nobody knows which of all that changed may go out.
	if f.Held = held; held && rollout.Unnamed(next, p.wish) {
		return nil
	}
	if next.Rejected() {
		return p.back(in, f, out, next)
	}
	if f.Waits = rollout.Waits(next, held, p.wish); f.Waits {
		return p.resume(in, f, out, &next)
	}
	wanted := compose.Inherit(p.wanted, f.Observed)
	if held {
		compose.Hold(wanted, f.Observed, next)
	}
	p.ask(in, f, wanted, next)
	judged := rollout.Judge(next, f.Proof())
	if judged.Rejected() {
		return p.back(in, f, out, judged)
	}
	if f.Suspended = *in.Spec.Suspend && judged.Step != next.Step; !f.Suspended {
		p.ask(in, f, wanted, judged)
	}
	if err := p.gates(in, f, out); err != nil {
		return err
	}
	return replace(f, out)
}

// ask for what carries out an order.
func (p plan) ask(in Input, f *phase.Facts, all map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) {
	f.Order = &o
	f.Desired = compose.Step(compose.Await(all, f.Observed, f.ObservedSync, o, p.clustered), o)
	if also := rollout.AlsoOf(o, p.wish); also != "" {
		f.Desired = compose.Annotate(f.Desired, also)
	}
	f.Sync = compose.Sync(in.Claim, in.Spec.DeliveryConfig, o, all, p.unseen())
}

// outranks is true for an order of a newer version of us.
func outranks(o rolloutv1alpha1.Order, r rollout.Request) bool {
	return rollout.Newer(o) || o.RendererVersion > r.RendererVersion
}

// replace asks for what carries out the order instead of what is there. A delivery that is no longer wanted stays until
// the others have carried the order out and the Sites run it, so that nothing is removed before its successor is in place.
func replace(f *phase.Facts, out *Output) error {
	for name := range f.Observed {
		if f.Desired[name] != nil {
			continue
		}
		if phase.Ready(f) {
			delete(out.Resources, name)
			continue
		}
		compose.Supersede(out.Resources[name].Object)
	}
	return observeAs(f, out)
}

// observeAs asks for the deliveries, and for the SiteSync if there is to be one.
func observeAs(f *phase.Facts, out *Output) error {
	if f.Sync == nil || f.ObservedSync != nil && rollout.Fenced(f.ObservedSync, *f.Order) {
		delete(out.Resources, compose.SyncName) // One that is in the way is made anew at the next call.
		return askFor(f.Desired, out)
	}
	o, err := compose.Encode(f.Sync)
	if err != nil {
		return errors.Wrap(err, "cannot encode SiteSync")
	}
	out.Resources[compose.SyncName] = Resource{Object: o}
	return askFor(f.Desired, out)
}

func askFor(desired map[string]*deliveryv1alpha1.GitDelivery, out *Output) error {
	for name, d := range desired {
		o, err := compose.Encode(d)
		if err != nil {
			return errors.Wrapf(err, "cannot encode composed resource %q", name)
		}
		out.Resources[name] = Resource{Object: o}
	}
	return nil
}

// unseen are the Sites that the SiteSync has nothing to do with: they have neither an engine nor a cluster to wait for.
func (p plan) unseen() map[string]bool {
	out := maps.Clone(p.unobserved)
	maps.DeleteFunc(out, func(site string, _ bool) bool { return p.clustered[site] })
	return out
}

// clustered are the Sites that wait for a Cluster API cluster.
func clustered(places []catalog.Place) map[string]bool {
	out := map[string]bool{}
	for _, p := range places {
		if p.Site.Spec.Cluster.ClusterRef != nil {
			out[p.Site.GetName()] = true
		}
	}
	return out
}

// unobserved are the Sites that have no engine, and whether delivered counts as live there.
func unobserved(places []catalog.Place) map[string]bool {
	out := map[string]bool{}
	for _, p := range places {
		if e := p.Site.Spec.Engine; e.Type == catalogv1alpha1.EngineNone {
			out[p.Site.GetName()] = e.UnobservedIsLive != nil && *e.UnobservedIsLive
		}
	}
	return out
}

// eased is true when strangers' files may be overwritten now, and some delivery was not told so.
func eased(in Input, f *phase.Facts) bool {
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

// checkTimeouts returns a problem for a timeout that nobody would keep.
func checkTimeouts(s deploymentv1alpha1.IntentDeploymentSpec) error {
	for _, t := range []struct {
		field string
		value deploymentv1alpha1.Duration
	}{
		{"deliveryConfig.deliveryTimeout", s.DeliveryConfig.DeliveryTimeout},
		{"deliveryConfig.syncWaitTimeout", s.DeliveryConfig.SyncWaitTimeout},
		{"deliveryConfig.clusterWaitTimeout", s.DeliveryConfig.ClusterWaitTimeout},
		{"rollbackConfig.attemptTimeout", s.RollbackConfig.AttemptTimeout},
		{"gatesConfig.metricsUnavailableTimeout", s.GatesConfig.MetricsUnavailableTimeout},
	} {
		if !kept(t.value) {
			return terminal(deploymentv1alpha1.ReasonInvalidSpec, deploymentv1alpha1.PhaseCompiling,
				errors.Errorf("spec.%s: %q is not between %s and %s", t.field, t.value, "1s", "24h"))
		}
	}
	return nil
}

// kept is true for a timeout that others would keep for us.
func kept(t deploymentv1alpha1.Duration) bool {
	is, err := time.ParseDuration(string(t))
	return err == nil && is >= shortestTimeout && is <= longestTimeout
}
