package workloadcluster

import (
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// A Row of the table of phases.
type Row struct {
	// Known describes the evidence for which the row matches. The documentation shows it.
	Known string

	// Phase of the cluster.
	Phase v1alpha1.Phase

	matches func(*facts) bool
}

// Rows returns the table of phases: the first row that matches gives the phase. The last row always matches.
func Rows() []Row {
	return []Row{{
		Known:   "the Cluster is being deleted, or was deleted, and the WorkloadCluster exists",
		Phase:   v1alpha1.PhaseDeleting,
		matches: (*facts).isClusterDeleting,
	}, {
		Known:   "infrastructure and control plane are ready, and the endpoint is known",
		Phase:   v1alpha1.PhaseProvisioned,
		matches: (*facts).isProvisioned,
	}, {
		Known:   "this Cluster was `Provisioned` once, and machines of its control plane are being replaced because of a user's change, while infrastructure, endpoint and kubeconfig are ready",
		Phase:   v1alpha1.PhaseProvisioned,
		matches: (*facts).isRollingOut,
	}, {
		Known:   "this Cluster was `Provisioned` once, and lost that state, or its state is unknown",
		Phase:   v1alpha1.PhaseDegraded,
		matches: (*facts).wasProvisioned,
	}, {
		Known:   "the spec is invalid, or the provider refused it, or provisioning takes longer than `timeouts`",
		Phase:   v1alpha1.PhaseFailed,
		matches: func(f *facts) bool { return f.Problem != "" || f.isSpecRefused() || f.hasTimedOut() },
	}, {
		Known:   "the cluster is being built, or waits for its dependencies",
		Phase:   v1alpha1.PhaseProvisioning,
		matches: (*facts).isClusterObserved,
	}, {
		Known:   "the provider has not observed the cluster yet",
		Phase:   v1alpha1.PhasePending,
		matches: func(*facts) bool { return true },
	}}
}

// currentPhase returns the phase of the first row that matches. It is about the cluster: an invalid spec does not fail a cluster that runs.
func (f *facts) currentPhase() v1alpha1.Phase {
	for _, r := range Rows() {
		if r.matches(f) {
			return r.Phase
		}
	}
	return v1alpha1.PhasePending
}

// Edges returns the legal changes of a phase. A Cluster that was made again under its name starts again at Pending from any phase.
func Edges() map[v1alpha1.Phase][]v1alpha1.Phase { return phaseTable().Next }
