package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Contracts are the versions of Cluster API's contract that the providers of a cluster follow.
type Contracts struct {
	// Infrastructure provider's contract.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Infrastructure string `json:"infrastructure,omitempty"`

	// ControlPlane provider's contract.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ControlPlane string `json:"controlPlane,omitempty"`
}

// Latch is the first observation of a condition of one Cluster. It stays although the condition ends.
type Latch struct {
	// UID of the Cluster.
	// +required
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// At is the time of the first observation.
	// +required
	At metav1.Time `json:"at"`
}

// Endpoint of an API server.
type Endpoint struct {
	// Host name or address.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// Port of the server.
	// +optional
	Port int32 `json:"port,omitempty"`
}

// FailureDomain is a part of the infrastructure that fails as one.
type FailureDomain struct {
	// Name of the failure domain.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// ControlPlane reports whether the failure domain may have control plane machines.
	// +optional
	ControlPlane bool `json:"controlPlane"`
}

// Machines are numbers of machines.
type Machines struct {
	// Desired machines.
	// +optional
	Desired int32 `json:"desired"`

	// Ready machines.
	// +optional
	Ready int32 `json:"ready"`
}

// Replicas are the machines of a cluster.
type Replicas struct {
	// ControlPlane machines.
	// +optional
	ControlPlane Machines `json:"controlPlane,omitempty"`

	// Workers of the cluster.
	// +optional
	Workers Machines `json:"workers,omitempty"`
}

// SecretReference names a key of a Secret in the namespace of the Cluster.
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
	// +kubebuilder:validation:MaxLength=71
	Digest string `json:"digest,omitempty"`

	// Expires is the time when its credentials expire. Absent if they do not, or if the time is unknown.
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`
}

// ClusterObject is one object that makes up a cluster.
type ClusterObject struct {
	// APIVersion of the object, as it was read.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the object.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the object when it was last seen.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Ready reports whether the object is in its desired state.
	// +optional
	Ready bool `json:"ready"`

	// Reason why it is not.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// Blocker is the object that blocks progress.
type Blocker struct {
	// Kind of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// Name of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// Reason why it blocks progress.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// Message of the object.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ObservedTopology is the progress of Cluster API with the topology that a Cluster requests of its ClusterClass. It is done once the Cluster's condition
// TopologyReconciled is true for its current generation, and neither the Cluster nor its control plane reports a rollout of machines.
type ObservedTopology struct {
	// Class is the name of the ClusterClass that the cluster was made of when Cluster API was last done.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Class string `json:"class,omitempty"`

	// Rebasing is true from when the Cluster names another ClusterClass until Cluster API was done for stabilizationSeconds.
	// +optional
	Rebasing bool `json:"rebasing,omitempty"`

	// Reason why Cluster API is not done with another ClusterClass.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`

	// Message of the Cluster with the reason, if it has one.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ManagedClusterObservation is the observed state of a cluster.
type ManagedClusterObservation struct {
	// UID of the Cluster, when it was last seen. Only that Cluster is ever deleted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// ClusterAPIVersion in which the Cluster was read.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ClusterAPIVersion string `json:"clusterAPIVersion,omitempty"`

	// Contracts of the providers.
	// +optional
	Contracts Contracts `json:"contracts,omitempty"`

	// Phase that Cluster API computed. It decides nothing here.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Phase string `json:"phase,omitempty"`

	// Initialized is the time since which the control plane is known to be initialized. It is never unset for that Cluster.
	// +optional
	Initialized *Latch `json:"initialized,omitempty"`

	// Provisioned is the time since which infrastructure and control plane were ready, and the endpoint known, for the first time. It is not
	// taken back for that Cluster.
	// +optional
	Provisioned *Latch `json:"provisioned,omitempty"`

	// StartedAt is the creation time of the Cluster, and InfrastructureReadyAt the time when its infrastructure was first ready: the
	// timeouts are counted from them, and from the end of a pause.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`

	// InfrastructureReadyAt is the time when the infrastructure was first observed ready.
	// +optional
	InfrastructureReadyAt *metav1.Time `json:"infrastructureReadyAt,omitempty"`

	// ReadySince is the time since which the cluster counts as ready without interruption. Absent while it does not.
	// +optional
	ReadySince *metav1.Time `json:"readySince,omitempty"`

	// WasReady is the time when this Cluster first counted as ready.
	// +optional
	WasReady *Latch `json:"wasReady,omitempty"`

	// Version of Kubernetes that runs.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Endpoint of the API server.
	// +optional
	Endpoint *Endpoint `json:"endpoint,omitempty"`

	// FailureDomains of the infrastructure.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	FailureDomains []FailureDomain `json:"failureDomains,omitempty"`

	// Topology of a Cluster that has a ClusterClass, as far as Cluster API carried it out.
	// +optional
	Topology *ObservedTopology `json:"topology,omitempty"`

	// Replicas of the cluster.
	// +optional
	Replicas Replicas `json:"replicas,omitempty"`

	// Kubeconfig of the cluster.
	// +optional
	Kubeconfig *Kubeconfig `json:"kubeconfig,omitempty"`

	// Objects that make up the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=kind
	// +listMapKey=name
	Objects []ClusterObject `json:"objects,omitempty"`

	// Blocker is the object that blocks progress, with a reason. Absent if progress is not blocked.
	// +optional
	Blocker *Blocker `json:"blocker,omitempty"`

	// SiteName of the Site that was published.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SiteName string `json:"siteName,omitempty"`

	// SiteUID of the last published Site. A deleted Site is not recreated automatically.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SiteUID string `json:"siteUID,omitempty"`
}

// ManagedClusterSpec describes a cluster.
type ManagedClusterSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider describes the cluster.
	// +required
	ForProvider ManagedClusterParameters `json:"forProvider"`
}

// ManagedClusterStatus is the last observation.
type ManagedClusterStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state of the cluster.
	// +optional
	AtProvider ManagedClusterObservation `json:"atProvider,omitempty"`
}

// A ManagedCluster is a Cluster of Cluster API: made from templates (CAPT) or a ClusterClass (Topology), or watched as it is (Existing). It
// is Ready when the cluster can be delivered to and all of it is well.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="TYPE",type="string",JSONPath=".spec.forProvider.type"
// +kubebuilder:printcolumn:name="CLUSTER",type="string",JSONPath=".spec.forProvider.cluster.name"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.atProvider.version"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.atProvider.endpoint.host"
// +kubebuilder:printcolumn:name="INFRA",type="string",JSONPath=".status.conditions[?(@.type=='InfrastructureReady')].status"
// +kubebuilder:printcolumn:name="CONTROLPLANE",type="string",JSONPath=".status.conditions[?(@.type=='ControlPlaneReady')].status"
// +kubebuilder:printcolumn:name="SITE",type="string",priority=1,JSONPath=".status.atProvider.siteName"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type ManagedCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the cluster.
	// +required
	Spec ManagedClusterSpec `json:"spec"`

	// Status of the cluster.
	// +optional
	Status ManagedClusterStatus `json:"status,omitempty"`
}

// ManagedClusterList contains a list of ManagedClusters.
//
// +kubebuilder:object:root=true
type ManagedClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ManagedCluster `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&ManagedCluster{}, &ManagedClusterList{})
}
