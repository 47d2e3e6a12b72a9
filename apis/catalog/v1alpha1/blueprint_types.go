package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Labels by which a Blueprint is selected.
const (
	// LabelBlueprint holds a Blueprint's spec.blueprintName.
	LabelBlueprint = "blueprint"

	// LabelChannel holds the channel that a Blueprint's version is in.
	LabelChannel = "channel"
)

// Direction is the good side of a threshold.
type Direction string

// Directions of a metric.
const (
	DirectionAtMost  Direction = "AtMost"
	DirectionAtLeast Direction = "AtLeast"
)

// BlueprintMetric has the query and the rules of one SLO metric.
type BlueprintMetric struct {
	// Name of the metric, as it is used in sloThresholds.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Query in PromQL. In the values of label matchers, and nowhere else, {{service}}, {{namespace}} and {{site}} are replaced by their
	// values, which are quoted, and match literally in a regular expression.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Query string `json:"query"`

	// Canary is the query for the steps of a canary in which both tracks get requests. In the values of its label matchers, {{canary}} and {{stable}}
	// are replaced by the names of the tracks too, so that it can compare them; query may not have them. Empty means that query is sent in these
	// steps too, and judges both tracks together.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Canary string `json:"canary,omitempty"`

	// Unit of the query's value, such as s, ms, % or requests/s. Empty means that it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Unit string `json:"unit,omitempty"`

	// Direction is the good side of a threshold that is a bare number.
	// +required
	// +kubebuilder:validation:Enum=AtMost;AtLeast
	Direction Direction `json:"direction"`

	// MetricRules are the default rules of the metric. A deployment may override them in spec.gatesConfig.metricRules.
	deploymentv1alpha1.MetricRules `json:",inline"`
}

// IrreversibleKind names objects, or fields of them, that a rollback cannot restore.
type IrreversibleKind struct {
	// Group of the objects. Empty means the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`

	// Kind of the objects.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// FieldPaths that cannot be restored. Empty means the whole object.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	FieldPaths []string `json:"fieldPaths,omitempty"`
}

// BlueprintExample is an intent that tests the Blueprint.
type BlueprintExample struct {
	// Intent as in spec.intent of a claim.
	// +required
	// +kubebuilder:validation:MaxLength=16384
	Intent string `json:"intent"`

	// Parameters of the Site of the example.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Parameters map[string]ParameterValue `json:"parameters,omitempty"`
}

// BlueprintCanary declares that a Blueprint's workload can run in two tracks beside each other.
type BlueprintCanary struct {
	// PerTrack are objects of which each track gets a copy, although no reference leads to them: neither the marked Deployments, the ConfigMaps and Secrets of
	// their pods, their autoscalers and disruption budgets, nor the Services of their routes. A ScaledObject and a ServiceMonitor are examples. Empty means
	// none.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	PerTrack []RenderedObject `json:"perTrack,omitempty"`
}

// RenderedObject names objects among the rendered objects of a Blueprint.
type RenderedObject struct {
	// Group of the objects. Empty means the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group,omitempty"`

	// Kind of the objects.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Name of the object, as it is rendered. Empty means each object of the kind.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
}

// File is the text of a file.
//
// +kubebuilder:validation:MaxLength=65536
type File string

// BlueprintSpec has the kustomization for a service type, with its schema, checks and examples. It never changes: a new version is a new object.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a Blueprint never changes: make a new object for a new version"
type BlueprintSpec struct {
	// BlueprintName is the name that all versions share. The label blueprint holds it too.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	BlueprintName string `json:"blueprintName"`

	// Version of the Blueprint, as in semver.org 2.0.0 without build metadata.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$`
	Version string `json:"version"`

	// ServiceTypes that this Blueprint serves.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	ServiceTypes []string `json:"serviceTypes"`

	// Files of a kustomize directory, by name: a kustomization.yaml and its resources. The function adds intent.yaml, a
	// ConfigMap named intent that holds the intent's values, for replacements to read.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	Files map[string]File `json:"files"`

	// ParametersSchema is a JSON schema for the intent's parameters. Absent means that each parameter is accepted.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ParametersSchema *runtime.RawExtension `json:"parametersSchema,omitempty"`

	// Metrics that SLO thresholds can be set for.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	Metrics []BlueprintMetric `json:"metrics,omitempty"`

	// Unproven objects have an annotation, a label or a kind that keeps a GitOps engine from applying them (once, again or at once) or from removing them.
	// No Site proves them, and its status names them. Another rendered object with such an instruction is refused. Up to 32; absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Unproven []RenderedObject `json:"unproven,omitempty"`

	// Irreversible objects: a rollback that would change one needs the request of a user.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Irreversible []IrreversibleKind `json:"irreversible,omitempty"`

	// Canary renders the workload in tracks, so that a revision can serve a share of the requests beside the previous revision: the Deployments with the
	// label intentplane.dev/workload: main, and the objects that belong to them. An HTTPRoute or a GRPCRoute of the Blueprint has to name a Service that
	// selects the pods of these Deployments. The command "kubectl intent blueprint test" renders such a Blueprint. A deployment may move from a
	// Blueprint without tracks to a Blueprint with tracks, and back: the Service that routes name stays the same. Absent means no tracks.
	// +optional
	Canary *BlueprintCanary `json:"canary,omitempty"`

	// Examples that the Blueprint is tested with.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	Examples []BlueprintExample `json:"examples,omitempty"`
}

// A Blueprint is one version of the kustomization for a service type. A Blueprint has no status, because a change of a status triggers a reconcile of
// each deployment that uses it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories={intentplane}
// +kubebuilder:printcolumn:name="BLUEPRINT",type="string",JSONPath=".spec.blueprintName"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".spec.version"
// +kubebuilder:printcolumn:name="CHANNEL",type="string",JSONPath=".metadata.labels.channel"
// +kubebuilder:printcolumn:name="TYPES",type="string",JSONPath=".spec.serviceTypes"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == self.spec.blueprintName + '-' + self.spec.version",message="metadata.name must be <spec.blueprintName>-<spec.version>"
type Blueprint struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Blueprint.
	// +required
	Spec BlueprintSpec `json:"spec"`
}

// BlueprintList contains a list of Blueprints.
//
// +kubebuilder:object:root=true
type BlueprintList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Blueprint `json:"items"`
}
