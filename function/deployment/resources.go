package deployment

import (
	"maps"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/evidence"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// ask for what carries out an order.
func (p plan) ask(in Input, f *phase.Input, all map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) {
	f.Order = &o
	f.Desired = compose.Step(compose.Await(all, f.Observed, f.ObservedSync, o, p.clustered), o)
	if also := rollout.AlsoOf(o, p.wish); also != "" {
		f.Desired = compose.Annotate(f.Desired, also)
	}
	f.Sync = compose.Sync(in.Claim, in.Spec.DeliveryConfig, o, all, p.unseen())
}

// replace asks for what carries out the order instead of what is there. A delivery that is no longer wanted stays until
// the others have carried the order out and the Sites run it, so that nothing is removed before its successor is in place.
func replace(f *phase.Input, out *Output) error {
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
func observeAs(f *phase.Input, out *Output) error {
	if f.Sync == nil || f.ObservedSync != nil && evidence.IsSyncAhead(f.ObservedSync, *f.Order) {
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

// carriesOut is true for a composed resource that proves what is asked of it.
func carriesOut(f *phase.Input, name string) bool {
	if f.Order == nil {
		return false
	}
	if name == compose.SyncName {
		return f.ObservedSync != nil && evidence.AreSitesLive(f.ObservedSync, *f.Order)
	}
	if g := f.Gates[name]; g != nil {
		return evidence.GateVerdict(g, g.Spec.ForProvider.Order) == rolloutv1alpha1.GatePassed
	}
	d := f.Observed[name]
	return d != nil && evidence.IsDelivered(d, *f.Order)
}
