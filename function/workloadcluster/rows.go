package workloadcluster

import (
	v1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// A Row of the table of phases.
type Row struct {
	// Known is what is known of a cluster when the row holds, in words.
	Known string

	// Phase of the cluster.
	Phase v1alpha1.Phase

	holds func(*facts) bool
}

// Rows are the table of phases: the first row that holds tells the phase. The last one always does.
func Rows() []Row {
	return []Row{{
		Known: "the Cluster is being deleted, or is gone, and the WorkloadCluster stays",
		Phase: v1alpha1.PhaseDeleting,
		holds: (*facts).deleting,
	}, {
		Known: "infrastructure and control plane are ready, and the endpoint is known",
		Phase: v1alpha1.PhaseProvisioned,
		holds: (*facts).provisioned,
	}, {
		Known: "this Cluster was `Provisioned` once, and machines of its control plane are replaced because that was asked for, while infrastructure, endpoint and kubeconfig are as they should be",
		Phase: v1alpha1.PhaseProvisioned,
		holds: (*facts).rolled,
	}, {
		Known: "this Cluster was `Provisioned` once, and is not any more, or nobody can tell",
		Phase: v1alpha1.PhaseDegraded,
		holds: (*facts).wasProvisioned,
	}, {
		Known: "the spec cannot be carried out, or is refused, or it takes longer than `timeouts`",
		Phase: v1alpha1.PhaseFailed,
		holds: func(f *facts) bool { return f.Problem != "" || f.refused() || f.late() },
	}, {
		Known: "it is built, or what it needs is waited for",
		Phase: v1alpha1.PhaseProvisioning,
		holds: (*facts).seen,
	}, {
		Known: "nobody has looked yet",
		Phase: v1alpha1.PhasePending,
		holds: func(*facts) bool { return true },
	}}
}

// phase is that of the first row that holds. It speaks of the cluster: one that runs is not failed by a spec that cannot be carried out.
func (f *facts) phase() v1alpha1.Phase {
	for _, r := range Rows() {
		if r.holds(f) {
			return r.Phase
		}
	}
	return v1alpha1.PhasePending
}

// Edges are the legal changes of a phase. A Cluster that was made again under its name starts again at Pending from anywhere.
func Edges() map[v1alpha1.Phase][]v1alpha1.Phase { return table().Next }
