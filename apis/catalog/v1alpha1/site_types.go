package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// EngineType is a kind of GitOps engine.
type EngineType string

// GitOps engines.
const (
	// EngineFlux is Flux's kustomize-controller.
	EngineFlux EngineType = "Flux"

	// EngineArgoCD is Argo CD's application controller.
	EngineArgoCD EngineType = "ArgoCD"

	// EngineConfigSync is Config Sync.
	EngineConfigSync EngineType = "ConfigSync"

	// EngineNone means that no engine reports the tree that the Site runs.
	EngineNone EngineType = "None"
)

// Layout is the layout of the directory of a delivery.
type Layout string

// Layouts of a directory.
const (
	// LayoutKustomization is one file per object and a kustomization.yaml that lists them.
	LayoutKustomization Layout = "Kustomization"

	// LayoutManifests is one file per object and nothing else, for engines that read every file.
	LayoutManifests Layout = "Manifests"
)

// ClusterScopedPolicy specifies whether cluster-scoped objects may be delivered.
type ClusterScopedPolicy string

// Policies for cluster-scoped objects.
const (
	ClusterScopedDeny  ClusterScopedPolicy = "Deny"
	ClusterScopedAllow ClusterScopedPolicy = "Allow"
)

// NamespacedSecretKeySelector selects one key of a Secret in a namespace.
type NamespacedSecretKeySelector struct {
	// Namespace of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Key in the Secret.
	// +optional
	// +kubebuilder:default=value
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// ObjectReference names one object of any kind.
type ObjectReference struct {
	// APIVersion of the object, such as kustomize.toolkit.fluxcd.io/v1.
	// +required
	// +kubebuilder:validation:MaxLength=253
	APIVersion string `json:"apiVersion"`

	// Kind of the object.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Namespace of the object. Empty for a cluster-scoped one.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Namespace string `json:"namespace,omitempty"`

	// Name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ControlPlaneCluster declares that a Site's workloads run in the cluster of Crossplane.
type ControlPlaneCluster struct{}

// SiteCluster is the cluster of a Site's workloads.
//
// +kubebuilder:validation:XValidation:rule="[has(self.controlPlane), has(self.kubeconfigSecretRef), has(self.clusterRef)].filter(x, x).size() == 1",message="exactly one of controlPlane, kubeconfigSecretRef and clusterRef must be set"
type SiteCluster struct {
	// ControlPlane means the cluster that Crossplane runs in.
	// +optional
	ControlPlane *ControlPlaneCluster `json:"controlPlane,omitempty"`

	// KubeconfigSecretRef names the Secret that holds the cluster's kubeconfig.
	// +optional
	KubeconfigSecretRef *NamespacedSecretKeySelector `json:"kubeconfigSecretRef,omitempty"`

	// ClusterRef names a Cluster API Cluster. Its kubeconfig is in the Secret <name>-kubeconfig.
	// +optional
	ClusterRef *ObjectReference `json:"clusterRef,omitempty"`
}

// SiteEngine is the GitOps engine that applies the repository at the Site.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'None' || has(self.objectRef)",message="objectRef is required unless type is None"
// +kubebuilder:validation:XValidation:rule="self.type == 'None' || !has(self.unobservedIsLive) || !self.unobservedIsLive",message="unobservedIsLive may be true only with type None"
type SiteEngine struct {
	// Type of the engine. None means that no engine reports the tree that the Site runs: deliveries there stay Unobserved.
	// +required
	// +kubebuilder:validation:Enum=Flux;ArgoCD;ConfigSync;None
	Type EngineType `json:"type"`

	// Location of the engine's object: in the Site's cluster, or in the cluster that Crossplane runs in (a hub).
	// +optional
	// +kubebuilder:default=Site
	// +kubebuilder:validation:Enum=Site;ControlPlane
	Location string `json:"location,omitempty"`

	// ObjectRef names the engine's object, such as a Flux Kustomization. Name and namespace may hold {site},
	// {claimNamespace} and {claimName}.
	// +optional
	ObjectRef *ObjectReference `json:"objectRef,omitempty"`

	// AcceptProof is the weakest proof of liveness that counts here.
	// +optional
	// +kubebuilder:default=Exact
	// +kubebuilder:validation:Enum=Exact;Transformed;Hydrated
	AcceptProof string `json:"acceptProof,omitempty"`

	// UnobservedIsLive is true if a delivered tree counts as live. Only with type None.
	// +optional
	// +kubebuilder:default=false
	UnobservedIsLive *bool `json:"unobservedIsLive,omitempty"`
}

// ClusterConfigReference names a ClusterProviderConfig.
type ClusterConfigReference struct {
	// Kind of the configuration.
	// +optional
	// +kubebuilder:default=ClusterProviderConfig
	// +kubebuilder:validation:Enum=ClusterProviderConfig
	Kind string `json:"kind,omitempty"`

	// Name of the configuration.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SiteRepository is the location of the Site's manifests in a repository.
type SiteRepository struct {
	// ProviderConfigRef names the configuration of the Site's own repository. Absent means the claim's gitOpsRepo.
	// +optional
	ProviderConfigRef *ClusterConfigReference `json:"providerConfigRef,omitempty"`

	// Path of the Site's directory, below the configuration's pathPrefix.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$')",message="must be a relative path of letters, digits, '-', '_' and '.', whose parts do not begin with a dot"
	Path string `json:"path"`

	// Layout of the directory of each delivery.
	// +optional
	// +kubebuilder:default=Kustomization
	// +kubebuilder:validation:Enum=Kustomization;Manifests
	Layout Layout `json:"layout,omitempty"`
}

// TargetNamespaces are the namespaces of the Site's cluster to which a claim may deliver objects.
type TargetNamespaces struct {
	// Allowed namespaces: names, {claimNamespace} for the namespace that the claim is in, or * for all namespaces. An empty list
	// allows none.
	// +optional
	// +kubebuilder:default={"{claimNamespace}"}
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Allowed []string `json:"allowed"`

	// ClusterScoped specifies whether cluster-scoped objects may be delivered.
	// +optional
	// +kubebuilder:default=Deny
	// +kubebuilder:validation:Enum=Deny;Allow
	ClusterScoped ClusterScopedPolicy `json:"clusterScoped,omitempty"`
}

// OwnQueriesPolicy specifies whether checks may have queries that are not from a Blueprint.
type OwnQueriesPolicy string

// Policies for queries that are not from a Blueprint.
const (
	OwnQueriesAllow OwnQueriesPolicy = "Allow"
	OwnQueriesDeny  OwnQueriesPolicy = "Deny"
)

// PrometheusEndpoint is a Prometheus server.
type PrometheusEndpoint struct {
	// Address of the server's HTTP API, such as https://prometheus.example.org.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('http://') || self.startsWith('https://')",message="must be an http or https address"
	Address string `json:"address"`

	// SecretRef names the Secret with the credentials: a token, or a username and a password. Absent means none.
	// +optional
	SecretRef *NamespacedSecretReference `json:"secretRef,omitempty"`

	// CABundleSecretRef names the certificate authorities that the server's certificate has to be signed by, as PEM. Absent means the authorities of the
	// system.
	// +optional
	CABundleSecretRef *NamespacedSecretKeyReference `json:"caBundleSecretRef,omitempty"`
}

// NamespacedSecretReference names a Secret in a namespace.
type NamespacedSecretReference struct {
	// Namespace of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// NamespacedSecretKeyReference names one key of a Secret in a namespace.
type NamespacedSecretKeyReference struct {
	NamespacedSecretReference `json:",inline"`

	// Key in the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// SiteMetrics are the servers of the Site's metrics.
type SiteMetrics struct {
	// Prometheus of the Site. It takes precedence over the Prometheus of the ProviderConfig.
	// +optional
	Prometheus *PrometheusEndpoint `json:"prometheus,omitempty"`

	// AllowedHosts are the Prometheus servers that the ProviderConfig of a namespace may name for this Site, as in webCheckHosts: a host, for
	// the port of HTTPS, or host:port. Plain HTTP needs http:// before it. Absent means none. A ClusterProviderConfig is not bound by it.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=260
	// +listType=set
	AllowedHosts []string `json:"allowedHosts,omitempty"`

	// OwnQueries specifies whether checks of deployments may send any query to the Prometheus server, with its credentials. Deny allows only
	// the metrics of Blueprints. Absent means Allow. It applies to deployments of each configuration.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	OwnQueries OwnQueriesPolicy `json:"ownQueries,omitempty"`

	// MetricRuleBounds bound the metric rules of deployments at this Site. The bounds of the configuration apply, too. Absent means the
	// bounds named at each field.
	// +optional
	MetricRuleBounds *configv1alpha1.MetricRuleBounds `json:"metricRuleBounds,omitempty"`
}

// SitePostCheck configures the Jobs of checks in the Site's cluster.
type SitePostCheck struct {
	// Namespace that the Jobs run in.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// ServiceAccountName that the Jobs run as.
	// +required
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName"`

	// AllowedImages that a check may use. An empty list allows none.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=512
	// +listType=atomic
	AllowedImages []string `json:"allowedImages,omitempty"`
}

// SiteOwner names the object that published a Site.
type SiteOwner struct {
	// APIGroup of the owner.
	// +required
	// +kubebuilder:validation:MaxLength=253
	APIGroup string `json:"apiGroup"`

	// Kind of the owner.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Namespace of the owner.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Name of the owner.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the owner.
	// +required
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`
}

// RouteHosts are hosts whose requests some namespaces may route.
type RouteHosts struct {
	// Namespaces by name, or * for all namespaces.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	Namespaces []string `json:"namespaces"`

	// Hosts such as shop.example.org, or *.team-a.example.org for all names below that domain, without the domain itself; or * for every host.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*|(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$`
	// +listType=set
	Hosts []string `json:"hosts"`
}

// SiteSpec describes a target for the delivery of intents.
type SiteSpec struct {
	// Cluster where the workloads run.
	// +required
	Cluster SiteCluster `json:"cluster"`

	// Engine that applies the repository at the Site.
	// +required
	Engine SiteEngine `json:"engine"`

	// Repository that holds the Site's manifests.
	// +required
	Repository SiteRepository `json:"repository"`

	// AllowedNamespaces are the namespaces whose claims may use this Site, by name, or * for all namespaces. An empty list allows
	// none.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`

	// RouteHosts restricts the hosts of routes by the namespace of the claim, in an HTTPRoute, a GRPCRoute, a TLSRoute or an Ingress; other kinds are not
	// checked. A namespace without an item may route no host. Absent allows each host for each namespace.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	RouteHosts []RouteHosts `json:"routeHosts,omitempty"`

	// TargetNamespaces that objects may be delivered to.
	// +optional
	// +kubebuilder:default={}
	TargetNamespaces TargetNamespaces `json:"targetNamespaces,omitempty"`

	// Metrics of the Site.
	// +optional
	Metrics *SiteMetrics `json:"metrics,omitempty"`

	// PostCheck configures the Jobs of checks at the Site. Absent means that checks with Jobs are refused.
	// +optional
	PostCheck *SitePostCheck `json:"postCheck,omitempty"`

	// Parameters of the Site, such as plmn, for Blueprints to use.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`

	// Owner is the object that published this Site. Absent for a Site that a person made.
	// +optional
	Owner *SiteOwner `json:"owner,omitempty"`
}

// ParameterValue is the value of a parameter.
//
// +kubebuilder:validation:MaxLength=4096
type ParameterValue string

// A Site is a target for the delivery of intents. It has no status, because a change of a status triggers a reconcile of each deployment that uses
// the Site.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories={intentplane}
// +kubebuilder:printcolumn:name="ENGINE",type="string",JSONPath=".spec.engine.type"
// +kubebuilder:printcolumn:name="PATH",type="string",JSONPath=".spec.repository.path"
// +kubebuilder:printcolumn:name="NAMESPACES",type="string",JSONPath=".spec.allowedNamespaces"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must not be longer than 63 characters"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$') && !(self.metadata.name in ['both', 'all'])",message="metadata.name must not be 'both' or 'all', which stand for several Sites"
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Site.
	// +required
	Spec SiteSpec `json:"spec"`
}

// SiteList contains a list of Sites.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&Site{}, &SiteList{}, &Blueprint{}, &BlueprintList{})
}
