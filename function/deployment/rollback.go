package deployment

import (
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxTurns is how often one call goes on from what it just decided about a way back: to its first attempt, and no further.
const maxTurns = 3

// defaultAttempt is what the schema says an attempt may take.
const defaultAttempt = "5m"

// back asks for what a rejected order has left to do. What was begun goes on whatever is wrong with the deployment now.
func (p plan) back(in Input, f *phase.Input, out *Output, o rolloutv1alpha1.Order) error {
	all := slices.Collect(maps.Values(f.Observed))
	for range maxTurns {
		parts := compose.Parts(f.Observed, p.wanted, o)
		p.retreat(in, f, parts, o)
		next, stop := rollout.Back(o, rollout.Retreat{
			Policy: p.policy(in), All: all, Parts: ordered(parts), Chosen: p.isChosen, Proof: f.Proof(),
		})
		f.Stop, f.StopMessage = stop, rollout.Explained(o, f.Target, stop)
		if rollout.Same(next, o) {
			break
		}
		o = next
	}
	if err := p.gates(in, f, out); err != nil {
		return err
	}
	if f.Order.Attempt == 0 {
		return askFor(f.Desired, out) // The SiteSync goes on as it is.
	}
	return observeAs(f, out)
}

// ordered are deliveries in the order of their names.
func ordered(ds map[string]*deliveryv1alpha1.GitDelivery) []*deliveryv1alpha1.GitDelivery {
	var out []*deliveryv1alpha1.GitDelivery
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		out = append(out, ds[name])
	}
	return out
}

// retreat composes a rejected order: as it is, or an attempt to go back.
func (p plan) retreat(in Input, f *phase.Input, parts map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) {
	f.Order, f.Target = &o, rollout.TargetOf(o, ordered(f.Observed))
	spec := usable(in.Spec.DeliveryConfig)
	if o.Attempt == 0 {
		f.Desired, f.Sync = compose.Stay(parts, spec, o), f.ObservedSync
		return
	}
	r := compose.Return{Target: f.Target, Chosen: p.isChosen, Timeout: attemptTimeout(in)}
	f.Desired = compose.Back(parts, spec, o, r)
	spec.SyncWaitTimeout, spec.ClusterWaitTimeout = deploymentv1alpha1.Duration(r.Timeout), deploymentv1alpha1.Duration(r.Timeout)
	f.Sync = compose.Sync(in.Claim, spec, o, f.Desired, p.nobody(f))
}

// nobody are the Sites that have no engine. While the catalog is not known, these are the ones that no SiteSync looked at.
func (p plan) nobody(f *phase.Input) map[string]bool {
	if p.unobserved != nil || f.ObservedSync == nil {
		return p.unobserved
	}
	out := compose.Sites(f.Desired)
	for _, s := range f.ObservedSync.Spec.ForProvider.Sites {
		delete(out, s.Name)
	}
	return out
}

// isChosen is true for a Site that the deployment is for, as far as that is known.
func (p plan) isChosen(site string) bool { return p.chosen == nil || p.chosen[site] }

func (p plan) policy(in Input) rollout.Policy {
	c := in.Spec.RollbackConfig
	return rollout.Policy{Auto: *c.AutoRollback, MaxRetries: *c.MaxRetries, MaxPerHour: *c.MaxPerHour}
}

// attemptTimeout is what an attempt may take. What nobody would keep freezes the order, and a way back goes on with the default.
func attemptTimeout(in Input) string {
	if t := in.Spec.RollbackConfig.AttemptTimeout; kept(t) {
		return string(t)
	}
	return defaultAttempt
}

// usable leaves out timeouts that nobody would keep: those of before stay.
func usable(d deploymentv1alpha1.DeliveryConfig) deploymentv1alpha1.DeliveryConfig {
	for _, t := range []*deploymentv1alpha1.Duration{&d.DeliveryTimeout, &d.SyncWaitTimeout, &d.ClusterWaitTimeout} {
		if !kept(*t) {
			*t = ""
		}
	}
	return d
}
