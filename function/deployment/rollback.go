package deployment

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/rollout"
)

// maxRollbackEvents is how many events of a rollback one call decides on: to its first attempt, and no further.
const maxRollbackEvents = 3

// defaultAttemptTimeout is the default of the schema for the time that an attempt may take.
const defaultAttemptTimeout = "5m"

// rollBack asks for what a rejected order has left to do. What began goes on whatever problem the deployment has now.
func (t decider) rollBack(d Decision, o rolloutv1alpha1.Order) (Decision, error) {
	all := t.observed.allDeliveries()
	for range maxRollbackEvents {
		parts := compose.Parts(t.observed.deliveries, t.compiled.deliveries, o)
		d = t.askForRollback(d, parts, o)
		next, stop := rollout.Back(o, rollout.Retreat{
			Policy: t.rollbackPolicy(), All: all, Parts: sortByName(parts), Chosen: t.compiled.isChosen, Proof: d.Proof(),
		})
		d.Stop, d.StopMessage = stop, rollout.Explained(o, d.Target, stop)
		if rollout.Same(next, o) {
			break
		}
		o = next
	}
	if err := t.composeGates(d); err != nil {
		return d, err
	}
	if d.Order.Attempt == 0 {
		return d, composeDeliveries(d) // The SiteSync goes on as it is.
	}
	return d, t.composeAll(d)
}

// askForRollback asks for a rejected order: for all directories as they are, or for an attempt to roll back.
func (t decider) askForRollback(d Decision, parts map[string]*deliveryv1alpha1.GitDelivery, o rolloutv1alpha1.Order) Decision {
	d.Order, d.Target = &o, rollout.TargetOf(o, t.observed.allDeliveries())
	spec := withoutInvalidTimeouts(t.in.Spec.DeliveryConfig)
	if o.Attempt == 0 {
		d.Desired, d.Sync = compose.Stay(parts, spec, o), t.observed.sync
		return d
	}
	r := compose.Return{Target: d.Target, Chosen: t.compiled.isChosen, Timeout: attemptTimeout(t.in)}
	d.Desired = compose.Back(parts, spec, o, r)
	spec.SyncWaitTimeout, spec.ClusterWaitTimeout = deploymentv1alpha1.Duration(r.Timeout), deploymentv1alpha1.Duration(r.Timeout)
	d.Sync = compose.Sync(t.in.Claim, spec, o, d.Desired, t.sitesWithoutEngine(d))
	return d
}

// sitesWithoutEngine returns the Sites that have no engine. While the catalog is not known, these are the ones that the SiteSync does not observe.
func (t decider) sitesWithoutEngine(d Decision) map[string]bool {
	if t.compiled.unobserved != nil || t.observed.sync == nil {
		return t.compiled.unobserved
	}
	out := compose.Sites(d.Desired)
	for _, s := range t.observed.sync.Spec.ForProvider.Sites {
		delete(out, s.Name)
	}
	return out
}

func (t decider) rollbackPolicy() rollout.Policy {
	c := t.in.Spec.RollbackConfig
	return rollout.Policy{Auto: *c.AutoRollback, MaxRetries: *c.MaxRetries, MaxPerHour: *c.MaxPerHour}
}

// attemptTimeout returns how long an attempt may take. An invalid one is a problem of the spec, and a rollback goes on with the default.
func attemptTimeout(in Input) string {
	if t := in.Spec.RollbackConfig.AttemptTimeout; isValidTimeout(t) {
		return string(t)
	}
	return defaultAttemptTimeout
}

// withoutInvalidTimeouts leaves invalid timeouts out: those that the objects have stay.
func withoutInvalidTimeouts(d deploymentv1alpha1.DeliveryConfig) deploymentv1alpha1.DeliveryConfig {
	for _, t := range []*deploymentv1alpha1.Duration{&d.DeliveryTimeout, &d.SyncWaitTimeout, &d.ClusterWaitTimeout} {
		if !isValidTimeout(*t) {
			*t = ""
		}
	}
	return d
}
