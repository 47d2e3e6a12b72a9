package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// Phase of a WorkloadCluster.
type Phase string

// Phases.
const (
	// PhasePending means that the provider has not observed the cluster yet.
	PhasePending Phase = "Pending"

	// PhaseProvisioning means that the cluster is being built, or waits for its prerequisites.
	PhaseProvisioning Phase = "Provisioning"

	// PhaseProvisioned means that infrastructure and control plane are ready, or that the latter is rolled out, and that the endpoint is known.
	PhaseProvisioned Phase = "Provisioned"

	// PhaseDegraded means that the cluster was provisioned, and lost a part of that state.
	PhaseDegraded Phase = "Degraded"

	// PhaseDeleting means that the Cluster is being deleted, or was deleted, while the WorkloadCluster exists.
	PhaseDeleting Phase = "Deleting"

	// PhaseFailed means that a cluster that never was provisioned took too long, or was refused.
	PhaseFailed Phase = "Failed"
)

// SecretReference names a key of a Secret in the namespace of the WorkloadCluster.
type SecretReference struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// Kubeconfig of a cluster.
type Kubeconfig struct {
	// SecretRef names the Secret that it is in.
	// +required
	SecretRef SecretReference `json:"secretRef"`

	// Digest of the kubeconfig. It changes when the kubeconfig is replaced.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// Expires is the time when its credentials expire. Absent if they do not, or if the time is unknown.
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`
}

// ObservedCluster is the observed state of the Cluster of Cluster API.
type ObservedCluster struct {
	// Name of the Cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// UID of the Cluster. Another one is another cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Phase that Cluster API computed, for information: no decision depends on it.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// APIVersion in which the Cluster was read.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	APIVersion string `json:"apiVersion,omitempty"`
}

// Transition is one change of the phase.
type Transition struct {
	// Index of this transition among all transitions of the composite, from 0. It distinguishes equal ones, also when
	// the oldest are forgotten.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Index int64 `json:"index"`

	// From is the phase before the transition. Empty for the first transition.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	From Phase `json:"from,omitempty"`

	// To which phase.
	// +required
	// +kubebuilder:validation:MaxLength=63
	To Phase `json:"to"`

	// At which time.
	// +required
	At metav1.Time `json:"at"`
}

// WorkloadClusterStatus is a projection of the observed state. Each part of it can be deleted and computed again, except
// for transitions, which no decision depends on. Crossplane adds the conditions.
type WorkloadClusterStatus struct {
	// Phase of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// SpecDigest of the spec that this status is about.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SpecDigest string `json:"specDigest,omitempty"`

	// ManagedCluster that was composed. It is in the namespace of the WorkloadCluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ManagedCluster string `json:"managedCluster,omitempty"`

	// Cluster of Cluster API.
	// +optional
	Cluster *ObservedCluster `json:"cluster,omitempty"`

	// Version of Kubernetes that runs.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Endpoint of the API server.
	// +optional
	Endpoint *clusterv1alpha1.Endpoint `json:"endpoint,omitempty"`

	// Kubeconfig of the cluster.
	// +optional
	Kubeconfig *Kubeconfig `json:"kubeconfig,omitempty"`

	// Initialized is the time since which the control plane is known to be initialized. It is never unset for that Cluster.
	// +optional
	Initialized *clusterv1alpha1.Latch `json:"initialized,omitempty"`

	// Provisioned is the time when this Cluster was first provisioned. It is never unset for that Cluster.
	// +optional
	Provisioned *clusterv1alpha1.Latch `json:"provisioned,omitempty"`

	// Replicas of the cluster.
	// +optional
	Replicas *clusterv1alpha1.Replicas `json:"replicas,omitempty"`

	// FailureDomains of the infrastructure.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	FailureDomains []clusterv1alpha1.FailureDomain `json:"failureDomains,omitempty"`

	// Blocker is the object that blocks progress, with a reason. Absent if progress is not blocked.
	// +optional
	Blocker *clusterv1alpha1.Blocker `json:"blocker,omitempty"`

	// SiteName of the Site that was published for the cluster. Absent without a published Site.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SiteName string `json:"siteName,omitempty"`

	// Transitions are the last changes of the phase, the newest one last.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Transitions []Transition `json:"transitions,omitempty"`
}
