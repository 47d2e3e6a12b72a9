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

// askForOrder asks for an order with the trees of deliveries.
func (t decider) askForOrder(d Decision, all map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) Decision {
	d.Order = &o
	d.Desired = compose.Step(compose.Await(all, t.observed.deliveries, t.observed.sync, o, t.compiled.clustered), o)
	if also := rollout.AlsoOf(o, t.compiled.desired); also != "" {
		d.Desired = compose.Annotate(d.Desired, also)
	}
	d.Sync = compose.Sync(t.in.Claim, t.in.Spec.DeliveryConfig, o, all, t.compiled.sitesWithoutSync())
	return d
}

// repeatRequest asks for an order with what its deliveries ask for already.
func (t decider) repeatRequest(d Decision, parts map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) Decision {
	spec := withoutInvalidTimeouts(t.in.Spec.DeliveryConfig)
	d.Order, d.Desired, d.Sync = &o, compose.Resume(parts, spec, o), compose.Observers(t.observed.sync, spec, o)
	return d
}

// composeSuccessors composes what asks for the order. A delivery that is not desired any more stays until the others have applied the order and the Sites run
// it, so that nothing is removed before its successor is in place.
func (t decider) composeSuccessors(d Decision) error {
	status := statusInput(t.in, t.observed, t.compiled, d)
	for name := range t.observed.deliveries {
		if d.Desired[name] != nil {
			continue
		}
		if phase.Ready(&status) {
			delete(d.resources, name)
			continue
		}
		d.resources[name] = Resource{Object: compose.Supersede(d.resources[name].Object)}
	}
	return t.composeAll(d)
}

// composeAll composes the deliveries, and the SiteSync if there is to be one.
func (t decider) composeAll(d Decision) error {
	if d.Sync == nil || d.ObservedSync != nil && evidence.IsSyncAhead(d.ObservedSync, *d.Order) {
		delete(d.resources, compose.SyncName) // The next call composes one that was in the way again.
		return composeDeliveries(d)
	}
	o, err := compose.Encode(d.Sync)
	if err != nil {
		return errors.Wrap(err, "cannot encode SiteSync")
	}
	d.resources[compose.SyncName] = Resource{Object: o}
	return composeDeliveries(d)
}

func composeDeliveries(d Decision) error {
	for name, desired := range d.Desired {
		o, err := compose.Encode(desired)
		if err != nil {
			return errors.Wrapf(err, "cannot encode composed resource %q", name)
		}
		d.resources[name] = Resource{Object: o}
	}
	return nil
}

// withReadiness returns the resources, and which of them prove what is asked of them.
func withReadiness(d Decision) map[string]Resource {
	out := maps.Clone(d.resources)
	for name, r := range out {
		r.Ready = isApplied(d, name)
		out[name] = r
	}
	return out
}

// isApplied is true for a composed resource that proves what is asked of it.
func isApplied(d Decision, name string) bool {
	if d.Order == nil {
		return false
	}
	if name == compose.SyncName {
		return d.ObservedSync != nil && evidence.AreSitesLive(d.ObservedSync, *d.Order)
	}
	if g := d.Gates[name]; g != nil {
		return evidence.GateVerdict(g, g.Spec.ForProvider.Order) == rolloutv1alpha1.GatePassed
	}
	observed := d.Observed[name]
	return observed != nil && evidence.IsDelivered(observed, *d.Order)
}
