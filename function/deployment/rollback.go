package deployment

import (
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/apis/timeout"
	"github.com/intentplane/intentplane/function/compose"
)

// requestRollback requests the trees of a rejected revision: all directories as they are, or the trees of the rollback target.
func (dr decider) requestRollback(s ledger.State) desiredResources {
	spec := dr.deliveryConfig(s)
	r := compose.Return{Trees: directories.TargetTrees(s), Chosen: dr.compiled.isChosenSite, Timeout: attemptTimeout(dr.in)}
	ds := compose.RestoreDirectories(dr.revisionParts(s), spec, s, r)
	if s.Cursor.Attempt == 0 {
		return desiredResources{deliveries: ds, sync: dr.observed.sync, isResumed: true}
	}
	return desiredResources{deliveries: ds, sync: compose.Sync(dr.in.Claim, spec, s, ds, dr.sitesWithoutEngine(ds))}
}

// deliveryConfig returns the part of the spec about deliveries, without invalid timeouts: the timeouts in the objects stay. In a rollback attempt the Sites have
// the time of the attempt.
func (dr decider) deliveryConfig(s ledger.State) deploymentv1alpha1.DeliveryConfig {
	out := withoutInvalidTimeouts(dr.in.Spec.DeliveryConfig)
	if limit := deploymentv1alpha1.Duration(attemptTimeout(dr.in)); s.Cursor.Attempt > 0 {
		out.SyncWaitTimeout, out.ClusterWaitTimeout = limit, limit
	}
	return out
}

// sitesWithoutEngine returns the Sites that have no engine. While the catalog is not known, these are the Sites that the SiteSync does not observe.
func (dr decider) sitesWithoutEngine(ds map[string]*deliveryv1alpha1.GitDelivery) map[string]bool {
	if dr.compiled.unobserved != nil || dr.observed.sync == nil {
		return dr.compiled.unobserved
	}
	out := compose.Sites(ds)
	for _, s := range dr.observed.sync.Spec.ForProvider.Sites {
		delete(out, s.Name)
	}
	return out
}

func rollbackPolicy(in Input) step.Policy {
	c := in.Spec.RollbackConfig
	return step.Policy{AutoRollback: *c.AutoRollback, MaxRetries: *c.MaxRetries, MaxPerHour: *c.MaxPerHour}
}

// attemptTimeout returns how long an attempt may take. An invalid one is a problem of the spec, and a rollback goes on with the default.
func attemptTimeout(in Input) string {
	return timeout.OfAttempt(string(in.Spec.RollbackConfig.AttemptTimeout))
}

// withoutInvalidTimeouts leaves invalid timeouts out: the timeouts in the objects stay.
func withoutInvalidTimeouts(d deploymentv1alpha1.DeliveryConfig) deploymentv1alpha1.DeliveryConfig {
	for _, t := range []*deploymentv1alpha1.Duration{&d.DeliveryTimeout, &d.SyncWaitTimeout, &d.ClusterWaitTimeout} {
		if _, isValid := timeout.Parse(string(*t)); !isValid {
			*t = ""
		}
	}
	return d
}
