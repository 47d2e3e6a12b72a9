package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// ClusterType is the way in which a cluster is created.
type ClusterType string

// Types of clusters.
const (
	// TypeCAPT is built by Cluster API Provider Terraform from WorkspaceTemplates.
	TypeCAPT ClusterType = "CAPT"

	// TypeTopology is built by Cluster API from a ClusterClass.
	TypeTopology ClusterType = "Topology"

	// TypeExisting is a cluster that another controller builds. The provider watches it, and creates, changes or deletes none of its objects.
	TypeExisting ClusterType = "Existing"
)

// ClusterReference names a Cluster of Cluster API.
type ClusterReference struct {
	// Namespace of the Cluster. It has to be that of the ManagedCluster, which is the default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Name of the Cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower case letters, digits and dashes, and begin with a-z"
	Name string `json:"name"`
}

// TemplateReference names a WorkspaceTemplate. The configuration has to allow it.
type TemplateReference struct {
	// Namespace of the template. It has to be that of the ManagedCluster, which is the default: CAPT reads templates of that namespace only.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Name of the template.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// CAPTVPC is the network of a cluster that CAPT builds.
//
// +kubebuilder:validation:XValidation:rule="has(self.templateRef) != has(self.existingID)",message="exactly one of templateRef and existingID must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.retainOnDelete) || !self.retainOnDelete || has(self.templateRef)",message="retainOnDelete is for a VPC that is made from a template"
type CAPTVPC struct {
	// TemplateRef names the template that the VPC is made from.
	// +optional
	TemplateRef *TemplateReference `json:"templateRef,omitempty"`

	// ExistingID of an existing VPC.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ExistingID string `json:"existingID,omitempty"`

	// RetainOnDelete keeps the VPC when the cluster is deleted. Only with templateRef.
	// +optional
	// +kubebuilder:default=false
	RetainOnDelete bool `json:"retainOnDelete,omitempty"`
}

// CAPTEndpointAccess specifies the networks from which the API server is reachable.
type CAPTEndpointAccess struct {
	// Public makes it reachable from everywhere.
	// +optional
	// +kubebuilder:default=true
	Public *bool `json:"public,omitempty"`

	// Private makes it reachable from the VPC.
	// +optional
	// +kubebuilder:default=true
	Private *bool `json:"private,omitempty"`
}

// CAPTControlPlane is the control plane of a cluster that CAPT builds.
type CAPTControlPlane struct {
	// TemplateRef names the template that the control plane is made from.
	// +required
	TemplateRef TemplateReference `json:"templateRef"`

	// EndpointAccess specifies the networks from which the API server is reachable.
	// +optional
	EndpointAccess *CAPTEndpointAccess `json:"endpointAccess,omitempty"`

	// Tags of the created resources, at most 50.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Tags map[string]BoundedText `json:"tags,omitempty"`
}

// BoundedText is a short text.
//
// +kubebuilder:validation:MaxLength=256
type BoundedText string

// CAPT describes a cluster that CAPT builds.
type CAPT struct {
	// Region of the cloud.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]{2}-[a-z]+-[0-9]$')",message="must be a region that CAPT accepts, such as eu-west-1"
	Region string `json:"region"`

	// VPC of the cluster.
	// +required
	VPC CAPTVPC `json:"vpc"`

	// ControlPlane of the cluster.
	// +required
	ControlPlane CAPTControlPlane `json:"controlPlane"`
}

// ClassReference names a ClusterClass.
type ClassReference struct {
	// Name of the ClusterClass.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the ClusterClass. It has to be that of the ManagedCluster, which is the default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
}

// TopologyControlPlane is the control plane of a cluster with a ClusterClass.
type TopologyControlPlane struct {
	// Replicas of the control plane, 1 to 9. Absent leaves it to the ClusterClass.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas *int32 `json:"replicas,omitempty"`
}

// TopologyWorkers are workers of one class.
type TopologyWorkers struct {
	// Class of the workers, one of the ClusterClass.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Class string `json:"class"`

	// Name of this group of workers, unique in the cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Replicas of the workers, 0 to 1000. Absent leaves the number to an autoscaler or another controller.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
}

// TopologyVariable is a value for a variable of the ClusterClass.
type TopologyVariable struct {
	// Name of the variable.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// Value of the variable, of any form.
	// +required
	Value apiextensionsv1.JSON `json:"value"`
}

// Topology describes a cluster with a ClusterClass.
type Topology struct {
	// ClassRef names the ClusterClass.
	// +required
	ClassRef ClassReference `json:"classRef"`

	// ControlPlane of the cluster.
	// +optional
	ControlPlane TopologyControlPlane `json:"controlPlane,omitempty"`

	// Workers of the cluster.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	Workers []TopologyWorkers `json:"workers,omitempty"`

	// Variables of the ClusterClass.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=map
	// +listMapKey=name
	Variables []TopologyVariable `json:"variables,omitempty"`
}

// Readiness configures the criteria of a ready cluster.
type Readiness struct {
	// StabilizationSeconds is the time for which the cluster has to be ready without interruption, in seconds, 0 to 3600. That doubles each
	// time that the cluster is lost, up to 600 s.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`

	// MinReadyWorkers is the number of workers that have to be ready, 0 to 10000. Default: 0, because workers often become ready
	// only by a first delivery, such as a network plugin.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MinReadyWorkers int32 `json:"minReadyWorkers,omitempty"`

	// AllowExec accepts a kubeconfig that runs a program to get its credentials. The provider never runs the program, so it cannot connect to the API server,
	// and observes nothing there.
	// +optional
	// +kubebuilder:default=false
	AllowExec bool `json:"allowExec,omitempty"`
}

// Duration is a time such as 15m.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h, such as 15m"
type Duration string

// Timeouts are limits on the duration of operations. A timeout deletes nothing, and a late result counts.
type Timeouts struct {
	// Infrastructure is the timeout for the infrastructure, from the creation of the Cluster.
	// +optional
	// +kubebuilder:default="15m"
	Infrastructure Duration `json:"infrastructure,omitempty"`

	// ControlPlane is the timeout for the control plane to be ready, from the time that the infrastructure was.
	// +optional
	// +kubebuilder:default="30m"
	ControlPlane Duration `json:"controlPlane,omitempty"`

	// Deletion is the timeout for a deletion.
	// +optional
	// +kubebuilder:default="60m"
	Deletion Duration `json:"deletion,omitempty"`
}

// PublishedRepository is the location of a published Site's manifests in a repository.
type PublishedRepository struct {
	// Path of the Site's directory. It has to lie below clusters/<namespace>/, and may not contain, or be inside, the directory of another Site. The
	// default is clusters/<namespace>/<name>.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$')",message="must be a relative path of letters, digits, '-', '_' and '.', whose parts do not begin with a dot"
	Path string `json:"path,omitempty"`
}

// PublishedSite is the Site that the provider creates for a cluster once it is ready. The Site allows only the namespace of the ManagedCluster.
type PublishedSite struct {
	// Publish makes the Site.
	// +optional
	// +kubebuilder:default=false
	Publish bool `json:"publish,omitempty"`

	// Name of the Site. It has to be <namespace>.<name> of the ManagedCluster, which is the default, or a name that policy.siteNames of
	// the ClusterProviderConfig allows, and at most 63 characters. A published Site is not renamed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// Labels of the Site.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Parameters of the Site, which Blueprints may use.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]catalogv1alpha1.ParameterValue `json:"parameters,omitempty"`

	// Engine that runs in the cluster. Its location has to be Site. By default no engine reports the tree that the cluster runs.
	// +optional
	Engine *catalogv1alpha1.SiteEngine `json:"engine,omitempty"`

	// Repository is the location of the Site's manifests.
	// +optional
	Repository PublishedRepository `json:"repository,omitempty"`
}

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is the value of an annotation.
//
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string

// ManagedClusterParameters describe a cluster.
type ManagedClusterParameters struct {
	// Cluster that is managed.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cluster is immutable"
	Cluster ClusterReference `json:"cluster"`

	ClusterDescription `json:",inline"`
}

// ClusterDescription describes a cluster, for WorkloadClusters and ManagedClusters.
//
// +kubebuilder:validation:XValidation:rule="has(self.capt) == (self.type == 'CAPT')",message="capt must be set with type CAPT, and with no other"
// +kubebuilder:validation:XValidation:rule="has(self.topology) == (self.type == 'Topology')",message="topology must be set with type Topology, and with no other"
// +kubebuilder:validation:XValidation:rule="self.type == 'Existing' || has(self.version)",message="version is required unless type is Existing"
type ClusterDescription struct {
	// Labels of the Cluster, for selectors of other controllers. At most 64, and none of cluster.x-k8s.io, intentplane.dev or their subdomains.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]LabelValue `json:"labels,omitempty"`

	// Annotations of the Cluster. At most 64, and none of cluster.x-k8s.io, intentplane.dev or their subdomains.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`

	// Version of Kubernetes, such as v1.34.2.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]+[.][0-9]+([.][0-9]+)?([-+][0-9A-Za-z.+-]*)?$')",message="must be a version, such as v1.34.2"
	Version string `json:"version,omitempty"`

	// Type is the way in which the cluster is created.
	// +required
	// +kubebuilder:validation:Enum=CAPT;Topology;Existing
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="type is immutable"
	Type ClusterType `json:"type"`

	// CAPT describes a cluster that CAPT builds.
	// +optional
	CAPT *CAPT `json:"capt,omitempty"`

	// Topology describes a cluster with a ClusterClass.
	// +optional
	Topology *Topology `json:"topology,omitempty"`

	// Readiness configures the criteria of a ready cluster.
	// +optional
	// +kubebuilder:default={}
	Readiness Readiness `json:"readiness,omitempty"`

	// Timeouts are limits on the duration of operations.
	// +optional
	// +kubebuilder:default={}
	Timeouts Timeouts `json:"timeouts,omitempty"`

	// Site that is published once the cluster is ready.
	// +optional
	Site PublishedSite `json:"site,omitempty"`

	// DeletionProtection keeps the cluster while deployments use its Site.
	// +optional
	// +kubebuilder:default=true
	DeletionProtection *bool `json:"deletionProtection,omitempty"`
}
