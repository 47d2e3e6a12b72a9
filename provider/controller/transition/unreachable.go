package transition

import (
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// isLedgerUnreachable reports whether no revision can be started, judged or rolled back, since the ledger cannot be read or written. Only deployments
// have the condition.
func (s *observedStatus) isLedgerUnreachable() bool {
	return s.GetCondition(deploymentv1alpha1.TypeRecorded).Reason == deploymentv1alpha1.ReasonLedgerUnreachable
}

// updateUnreachable counts a deployment while the repository of its ledger cannot be read or written.
func (r *Reconciler) updateUnreachable(s *phaseLog, isUnreachable bool) {
	switch {
	case isUnreachable && !s.isLedgerUnreachable:
		r.metrics.LedgerUnreachable(1)
	case !isUnreachable && s.isLedgerUnreachable:
		r.metrics.LedgerUnreachable(-1)
	}
	s.isLedgerUnreachable = isUnreachable
}
