package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A WorkloadCluster is one cluster of Cluster API: made from templates (CAPT) or a ClusterClass (Topology), or watched as it is
// (Existing).
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=workloadclusters,singular=workloadcluster,shortName=wcl
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".status.version"
// +kubebuilder:printcolumn:name="ENDPOINT",type="string",JSONPath=".status.endpoint.host"
// +kubebuilder:printcolumn:name="INFRA",type="string",JSONPath=".status.conditions[?(@.type=='InfrastructureReady')].status"
// +kubebuilder:printcolumn:name="CONTROLPLANE",type="string",JSONPath=".status.conditions[?(@.type=='ControlPlaneReady')].status"
// +kubebuilder:printcolumn:name="SITE",type="string",priority=1,JSONPath=".status.siteName"
// +kubebuilder:printcolumn:name="SINCE",type="date",priority=1,JSONPath=".status.transitions[-1:].at"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",priority=1,JSONPath=".status.message"
type WorkloadCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the cluster.
	// +required
	Spec WorkloadClusterSpec `json:"spec"`

	// Status of the cluster.
	// +optional
	Status WorkloadClusterStatus `json:"status,omitempty"`
}
