package v1alpha1

import (
	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
)

// ConfigReference names the configuration whose limits hold for a cluster.
type ConfigReference struct {
	// Kind of the configuration.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ProviderConfig;ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +optional
	// +kubebuilder:default=default
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="must be the name of an object: lower-case letters, digits, '-' and '.'"
	Name string `json:"name,omitempty"`
}

// WorkloadClusterSpec is the desired cluster.
//
// +kubebuilder:validation:XValidation:rule="has(self.clusterName) == has(oldSelf.clusterName)",message="clusterName is immutable"
type WorkloadClusterSpec struct {
	// ClusterName is the name of the Cluster of Cluster API. It is in the namespace of the WorkloadCluster. The default is the name of
	// the WorkloadCluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower case letters, digits and dashes, and begin with a-z"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="clusterName is immutable"
	ClusterName string `json:"clusterName,omitempty"`

	// ProviderConfigRef names the configuration whose limits hold. WorkspaceTemplates are allowed by a ClusterProviderConfig only.
	// +optional
	// +kubebuilder:default={}
	ProviderConfigRef ConfigReference `json:"providerConfigRef,omitempty"`

	// DeletionPolicy is the action on the cluster after the WorkloadCluster is deleted: Delete deletes the objects that the
	// ManagedCluster made, and Orphan keeps all objects. A cluster of type Existing is never deleted.
	// +optional
	// +kubebuilder:default=Delete
	// +kubebuilder:validation:Enum=Delete;Orphan
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	clusterv1alpha1.ClusterDescription `json:",inline"`
}
