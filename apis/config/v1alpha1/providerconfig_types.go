package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Finalizer holds a ProviderConfig or ClusterProviderConfig while a managed resource names it.
const Finalizer = "config.intentplane.dev/in-use"

// Prometheus is a Prometheus server.
type Prometheus struct {
	// Address of the server's HTTP API, such as https://prometheus.example.org.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('http://') || self.startsWith('https://')",message="must be an http or https address"
	Address string `json:"address"`

	// SecretRef names the Secret with the credentials. Absent means none.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// CABundleSecretRef names the certificates that the server's must descend from, as PEM. Absent means the system's.
	// +optional
	CABundleSecretRef *SecretKeyReference `json:"caBundleSecretRef,omitempty"`
}

// Metrics are the servers of metrics.
type Metrics struct {
	// Prometheus for queries at Sites without a Prometheus server.
	// +optional
	Prometheus *Prometheus `json:"prometheus,omitempty"`
}

// PlainSecretsPolicy specifies whether Secrets may be written to Git unencrypted.
type PlainSecretsPolicy string

// Policies for plain Secrets.
const (
	PlainSecretsDeny  PlainSecretsPolicy = "Deny"
	PlainSecretsAllow PlainSecretsPolicy = "Allow"
)

// UnknownFieldsPolicy specifies whether fields that are not in the schemas of this version may be written to Git.
type UnknownFieldsPolicy string

// Policies for fields that we do not know.
const (
	UnknownFieldsDeny  UnknownFieldsPolicy = "Deny"
	UnknownFieldsAllow UnknownFieldsPolicy = "Allow"
)

// OwnQueriesPolicy specifies whether checks may have queries that are not from a Blueprint.
type OwnQueriesPolicy string

// Policies for queries that are not from a Blueprint.
const (
	OwnQueriesAllow OwnQueriesPolicy = "Allow"
	OwnQueriesDeny  OwnQueriesPolicy = "Deny"
)

// KindSet names kinds of one API group.
type KindSet struct {
	// Group of the kinds. Empty means the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`

	// Kinds of the group, or * for all kinds.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	Kinds []string `json:"kinds"`
}

// NamespacedName names an object in a namespace.
type NamespacedName struct {
	// Namespace of the object.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the object.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// CAPTPolicy is the limits of clusters that CAPT builds with the platform's cloud credentials.
type CAPTPolicy struct {
	// Regions that clusters may be built in, such as eu-west-1. Absent means all regions.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=32
	// +listType=set
	Regions []string `json:"regions,omitempty"`

	// VPCIDs of VPCs that capt.vpc.existingID may name. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=set
	VPCIDs []string `json:"vpcIDs,omitempty"`

	// TagKeys that capt.controlPlane.tags may have: keys, or the beginning of keys with * after it. A cloud may grant rights by tags, so that
	// absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=256
	// +listType=set
	TagKeys []string `json:"tagKeys,omitempty"`
}

// Policy is the limits that the users of a configuration cannot cross. They are checked on the rendered objects and again, by
// the provider, on the written objects.
type Policy struct {
	// AllowedNamespaces whose managed resources may name this configuration, or * for all. Of a ClusterProviderConfig
	// only. Absent means all namespaces.
	// +optional
	// +kubebuilder:validation:MaxItems=1000
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	AllowedNamespaces []string `json:"allowedNamespaces,omitempty"`

	// Branches that may be written. Absent means git.branch only.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=200
	// +listType=set
	Branches []string `json:"branches,omitempty"`

	// AllowedKinds of objects. Absent means Kubernetes' own namespaced kinds. Once set, it names all allowed kinds. A
	// cluster-scoped kind, or a kind that is not Kubernetes' own, counts in a ClusterProviderConfig only.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	AllowedKinds []KindSet `json:"allowedKinds,omitempty"`

	// PlainSecrets specifies whether Secrets may be written to Git unencrypted. Allow counts in a ClusterProviderConfig only.
	// +optional
	// +kubebuilder:default=Deny
	// +kubebuilder:validation:Enum=Deny;Allow
	PlainSecrets PlainSecretsPolicy `json:"plainSecrets,omitempty"`

	// UnknownFields specifies whether objects of Kubernetes' own kinds may have fields that this version does not know. Allow is for
	// Sites with a newer Kubernetes, and counts in a ClusterProviderConfig only; values of known fields are still checked.
	// +optional
	// +kubebuilder:default=Deny
	// +kubebuilder:validation:Enum=Deny;Allow
	UnknownFields UnknownFieldsPolicy `json:"unknownFields,omitempty"`

	// OwnQueries specifies whether checks of deployments may send any query to the Prometheus server, of the Site or of this configuration, with its credentials.
	// Deny allows only the metrics of Blueprints, and addresses of a check's own. Absent means Allow.
	// +optional
	// +kubebuilder:validation:Enum=Allow;Deny
	OwnQueries OwnQueriesPolicy `json:"ownQueries,omitempty"`

	// MetricRuleBounds bound the metric rules of deployments. The bounds of the Site apply, too. Absent means the bounds named at each field.
	// +optional
	MetricRuleBounds *MetricRuleBounds `json:"metricRuleBounds,omitempty"`

	// WebCheckHosts are the allowed hosts of web checks. Of a ClusterProviderConfig only. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	WebCheckHosts []string `json:"webCheckHosts,omitempty"`

	// WorkspaceTemplates that clusters may be built from. Of a ClusterProviderConfig only. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	WorkspaceTemplates []NamespacedName `json:"workspaceTemplates,omitempty"`

	// CAPT bounds clusters that CAPT builds. Of a ClusterProviderConfig only.
	// +optional
	// +kubebuilder:default={}
	CAPT CAPTPolicy `json:"capt,omitempty"`

	// SiteNames under which clusters may publish a Site, beside <namespace>.<name>, which is always theirs: names, or patterns in
	// which * stands for any characters but a dot. Of a ClusterProviderConfig only. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9*]([-a-z0-9.*]*[a-z0-9*])?$`
	// +listType=set
	SiteNames []string `json:"siteNames,omitempty"`

	// MaxPublishedSites that clusters of one namespace may publish, 0 to 500. 0 allows none. In a ProviderConfig no more than 20. A Site that is published
	// stays.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	MaxPublishedSites *int32 `json:"maxPublishedSites,omitempty"`

	// MaxSites of one delivery. In a ProviderConfig no more than 100.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	MaxSites *int32 `json:"maxSites,omitempty"`
}

// Build configures the builds of images for Applications.
type Build struct {
	// Registry that images are pushed to, with a path: the image of Application shop in team-a is <registry>/team-a/shop. Tenants whose service accounts may
	// push to other paths than their own could replace the images of others.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$')",message="must be a registry with a path, such as registry.example.org/apps, without a tag"
	Registry string `json:"registry"`

	// Builder for builds that name none. Absent means that each build has to name a builder.
	// +optional
	Builder *buildv1alpha1.BuilderReference `json:"builder,omitempty"`

	// ServiceAccountName is the service account for builds that name none, in the namespace of each Application. Absent means default.
	// +optional
	ServiceAccountName deploymentv1alpha1.ObjectName `json:"serviceAccountName,omitempty"`

	// SourceHosts that sources may be at: names, or *. and a domain for all names below it. Absent means every host.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=set
	SourceHosts []string `json:"sourceHosts,omitempty"`

	// MaxResources that a step of a build may request. Absent means the limits of an Application.
	// +optional
	MaxResources buildv1alpha1.Resources `json:"maxResources,omitempty"`
}

// NotificationFormat is the format of the body of a notification.
type NotificationFormat string

// Formats of notifications.
const (
	// FormatCloudEvents is one CloudEvent 1.0 in structured mode, whose data is a CDEvent.
	FormatCloudEvents NotificationFormat = "CloudEvents"

	// FormatSlack is a message for an incoming webhook of Slack.
	FormatSlack NotificationFormat = "Slack"
)

// Notification receives the outcomes of deployments whose spec.deliveryConfig.gitOpsRepo names the configuration.
type Notification struct {
	// Name of the receiver, a DNS label. The provider records posted outcomes by it: a receiver with another name is another receiver, and gets outcomes from
	// then on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	Name string `json:"name"`

	// URL that notifications are posted to. The Secret may hold the whole address under key address, if a part of it is secret: then the host here has to be
	// the same. In a ProviderConfig its host has to be in --notification-hosts of the provider. The provider refuses to post to a near address, such as an
	// address of its own machine.
	// +required
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.startsWith('https://')",message="must be an https address"
	URL string `json:"url"`

	// Format of the body. Absent means CloudEvents.
	// +optional
	// +kubebuilder:default=CloudEvents
	// +kubebuilder:validation:Enum=CloudEvents;Slack
	Format NotificationFormat `json:"format,omitempty"`

	// SecretRef names the Secret with the credentials: under key token, the key of the HMAC-SHA256 of the body, which header X-Signature has as
	// sha256=<hex>; under key address, the address that is posted to instead of url. One of the two has to be there. Absent means that the body is not
	// signed.
	// +optional
	SecretRef *SecretReference `json:"secretRef,omitempty"`

	// CABundleSecretRef names the certificates that the server's must descend from, as PEM. Absent means the system's.
	// +optional
	CABundleSecretRef *SecretKeyReference `json:"caBundleSecretRef,omitempty"`

	// Events that are posted: Succeeded when a revision was verified, RolledBack when the Sites run an earlier revision again, Failed when a
	// revision was rejected and was not rolled back.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:Enum=Succeeded;RolledBack;Failed
	// +listType=set
	Events []deploymentv1alpha1.Outcome `json:"events"`
}

// ProviderConfigSpec has the connection of the provider to a repository, and the permissions of its users.
type ProviderConfigSpec struct {
	// ControlPlane is the name of this installation in markers, commits and the state. Two installations that share a
	// repository must not share a name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="controlPlane never changes"
	ControlPlane string `json:"controlPlane"`

	// TakeOverFrom is the uid of the cluster that wrote here before, under the same controlPlane: of its namespace
	// kube-system. Needed once, after a cluster was rebuilt.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	TakeOverFrom string `json:"takeOverFrom,omitempty"`

	// Git repository that is written to.
	// +required
	Git GitRemote `json:"git"`

	// Metrics configures the Prometheus server of gates.
	// +optional
	Metrics *Metrics `json:"metrics,omitempty"`

	// Policy is the limits of the users of this configuration. In a ProviderConfig it only narrows.
	// +optional
	// +kubebuilder:default={}
	Policy Policy `json:"policy,omitempty"`

	// Build configures the builds of images for Applications. Of a ClusterProviderConfig only. Absent means that none are built.
	// +optional
	Build *Build `json:"build,omitempty"`

	// Notifications of outcomes: the receivers that are posted to when a revision of a deployment was verified, rolled back, or failed. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=name
	Notifications []Notification `json:"notifications,omitempty"`
}

// ProviderConfigStatus is the observed state of the repository: condition Ready reports whether the provider reaches it, and StateSigned whether its
// state can be forged. It has no count of users: each change would trigger a reconcile of every composite that reads the configuration.
type ProviderConfigStatus struct {
	xpv2.ConditionedStatus `json:",inline"`
}

// A ProviderConfig configures the repository, the credentials and the limits of one namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,intentplane}
// +kubebuilder:printcolumn:name="CONTROL-PLANE",type="string",JSONPath=".spec.controlPlane"
// +kubebuilder:printcolumn:name="URL",type="string",JSONPath=".spec.git.url"
// +kubebuilder:printcolumn:name="BRANCH",type="string",JSONPath=".spec.git.branch"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="[self.spec.git.?credentials.?secretRef.?namespace, self.spec.git.?credentials.?clientCertSecretRef.?namespace, self.spec.git.?caBundleSecretRef.?namespace, self.spec.git.?knownHostsSecretRef.?namespace, self.spec.git.?proxy.?secretRef.?namespace, self.spec.git.?signing.?secretRef.?namespace, self.spec.?metrics.?prometheus.?secretRef.?namespace, self.spec.?metrics.?prometheus.?caBundleSecretRef.?namespace].all(n, !n.hasValue()) && (!has(self.spec.notifications) || self.spec.notifications.all(n, (!has(n.secretRef) || !has(n.secretRef.namespace)) && (!has(n.caBundleSecretRef) || !has(n.caBundleSecretRef.namespace))))",message="a ProviderConfig reads Secrets of its own namespace only: no secretRef may set namespace"
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the configuration.
	// +required
	Spec ProviderConfigSpec `json:"spec"`

	// Status of the configuration.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigList contains a list of ProviderConfigs.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfig `json:"items"`
}

// A ClusterProviderConfig configures the repository, the credentials and the limits of all the namespaces that its policy allows.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,intentplane}
// +kubebuilder:printcolumn:name="CONTROL-PLANE",type="string",JSONPath=".spec.controlPlane"
// +kubebuilder:printcolumn:name="URL",type="string",JSONPath=".spec.git.url"
// +kubebuilder:printcolumn:name="BRANCH",type="string",JSONPath=".spec.git.branch"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="[[self.spec.git.?credentials.?secretRef.?name, self.spec.git.?credentials.?secretRef.?namespace], [self.spec.git.?credentials.?clientCertSecretRef.?name, self.spec.git.?credentials.?clientCertSecretRef.?namespace], [self.spec.git.?caBundleSecretRef.?name, self.spec.git.?caBundleSecretRef.?namespace], [self.spec.git.?knownHostsSecretRef.?name, self.spec.git.?knownHostsSecretRef.?namespace], [self.spec.git.?proxy.?secretRef.?name, self.spec.git.?proxy.?secretRef.?namespace], [self.spec.git.?signing.?secretRef.?name, self.spec.git.?signing.?secretRef.?namespace], [self.spec.?metrics.?prometheus.?secretRef.?name, self.spec.?metrics.?prometheus.?secretRef.?namespace], [self.spec.?metrics.?prometheus.?caBundleSecretRef.?name, self.spec.?metrics.?prometheus.?caBundleSecretRef.?namespace]].all(p, p[0].hasValue() == p[1].hasValue()) && (!has(self.spec.notifications) || self.spec.notifications.all(n, (!has(n.secretRef) || has(n.secretRef.namespace)) && (!has(n.caBundleSecretRef) || has(n.caBundleSecretRef.namespace))))",message="a ClusterProviderConfig is in no namespace: each secretRef must set namespace"
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the configuration.
	// +required
	Spec ProviderConfigSpec `json:"spec"`

	// Status of the configuration.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ClusterProviderConfigList contains a list of ClusterProviderConfigs.
//
// +kubebuilder:object:root=true
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterProviderConfig `json:"items"`
}

// A ProviderConfigUsage shows that a ManagedCluster uses a configuration. It is information for people: the finalizer on the configuration prevents
// its deletion. A GitDelivery has no usage, since each usage costs a write for each deployment: "kubectl get gitdeliveries -o wide" shows the
// configuration of each.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,intentplane}
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",JSONPath=".providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// ProviderConfigUsageList contains a list of ProviderConfigUsages.
//
// +kubebuilder:object:root=true
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProviderConfigUsage `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
}
