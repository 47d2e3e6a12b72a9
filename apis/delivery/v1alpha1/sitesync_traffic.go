package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
)

// SiteTraffic is the desired share of requests of each track in the routes of a Site. A Site with this field is live only when its cluster proves
// these shares.
type SiteTraffic struct {
	// Tracks of the directory.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	Tracks []TrackTraffic `json:"tracks"`

	// Drain is the time for which a track must have been proven to get no requests until it is idle. A gateway applies a route some time after the
	// acceptance of the route, and no status reports that time: drain has to be longer than this delay. From 1s to 10m, default: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="must be a duration from 1s to 10m, such as 30s"
	Drain string `json:"drain,omitempty"`

	// Routes that divide requests, with the weights that they have in Git.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Routes []TrafficRoute `json:"routes,omitempty"`
}

// TrackTraffic is the share of the requests of one track.
type TrackTraffic struct {
	// Name of the track.
	// +required
	// +kubebuilder:validation:Enum=blue;green;plain
	Name string `json:"name"`

	// Weight is the share of the requests, in percent.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`

	// WeighedAt is the last position of the deployment that changed the directory of this Site and gave the track any requests. Only a later position
	// can prove that the track gets no requests. Absent if the track never got requests.
	// +optional
	WeighedAt *ledger.Position `json:"weighedAt,omitempty"`

	// Tree is the git tree id of the folder of the track. Only pods of that folder are proven. Absent means that no pods are proven.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Tree string `json:"tree,omitempty"`

	// ChangedAt is the last position of the deployment at which Git changed the folder of the track at this Site. Only that position or a later position
	// can prove that its pods are available: the folder may have existed earlier. Absent means that each position can.
	// +optional
	ChangedAt *ledger.Position `json:"changedAt,omitempty"`

	// Workloads are the Deployments of the track.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Workloads []TrafficWorkload `json:"workloads,omitempty"`

	// Awaited is true if the Site is live only when all pods of the Deployments are available, as for the track that is to receive the requests. Absent
	// means that the Site does not wait for the pods of the track.
	// +optional
	Awaited bool `json:"awaited,omitempty"`
}

// TrafficRoute is a route of Gateway API, and where it sends requests.
type TrafficRoute struct {
	// Kind of the route.
	// +required
	// +kubebuilder:validation:Enum=HTTPRoute;GRPCRoute
	Kind string `json:"kind"`

	// Namespace of the route.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the route.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Backends of the route's rules.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +listType=atomic
	Backends []TrafficBackend `json:"backends"`
}

// TrafficBackend is a Service that a rule of a route sends requests to.
type TrafficBackend struct {
	// Rule is the index of the rule.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	Rule int32 `json:"rule"`

	// Service is the name of the Service, with its namespace and a slash before it if the namespace differs from the route's.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=127
	Service string `json:"service"`

	// Weight that the rule gives to the Service. Several entries of one Service count together.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=16000000
	Weight int64 `json:"weight"`
}

// TrafficWorkload names a Deployment.
type TrafficWorkload struct {
	// Namespace of the Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// Name of the Deployment.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// MinReplicas is the number of pods that have to be available although the Deployment may request fewer: an autoscaler needs some seconds to create
	// them. Absent means that only the Deployment's own number counts, and so does a number of 0 in the Deployment.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	MinReplicas int64 `json:"minReplicas,omitempty"`
}

// SiteTrafficObservation is the observed state of the tracks of a Site.
type SiteTrafficObservation struct {
	// Tracks, in the order of the spec.
	// +optional
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	Tracks []TrackObservation `json:"tracks,omitempty"`
}

// TrackObservation is the observed state of one track.
type TrackObservation struct {
	// Name of the track.
	// +required
	// +kubebuilder:validation:MaxLength=16
	Name string `json:"name"`

	// Weight that the routes of the cluster were last proven to give to the track, in percent. Absent if no weight was proven.
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// ProvenAt is the position at which the track was proven to get no requests. Absent while it may get requests.
	// +optional
	ProvenAt *ledger.Position `json:"provenAt,omitempty"`

	// IdleSince is the time when the track was first proven to get no requests; it has received no requests since. Absent while it may get requests.
	// +optional
	IdleSince *metav1.Time `json:"idleSince,omitempty"`

	// AvailableTree is the git tree id of the folder whose pods were all available after the last change of the folder in Git. The pods may be
	// unavailable now. Absent without such an observation.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	AvailableTree string `json:"availableTree,omitempty"`

	// AvailableAt is the position of that observation. Absent without such an observation.
	// +optional
	AvailableAt *ledger.Position `json:"availableAt,omitempty"`

	// Idle is true once the drain has passed since idleSince: the pods of the track may be changed or removed.
	// +optional
	Idle bool `json:"idle,omitempty"`
}
