package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// HealthTarget is one Site whose pods are observed.
type HealthTarget struct {
	// Name of the Site.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// SiteHealthParameters name the workload to observe.
type SiteHealthParameters struct {
	// ClaimRef names the deployment whose workload is observed: the Deployments in its namespace that are labelled with intentplane.dev/claim and its
	// name, and with intentplane.dev/workload: main.
	// +required
	ClaimRef rolloutv1alpha1.ClaimReference `json:"claimRef"`

	// Image that the pods have to run. Images with equal digests are equal, whatever their registry. An image with a tag equals the same image with a
	// digest added.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// Route includes the HTTPRoutes in the deployment's namespace with label intentplane.dev/claim in the observation. Default: false.
	// +optional
	Route bool `json:"route,omitempty"`

	// Sites that are observed.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=name
	Sites []HealthTarget `json:"sites,omitempty"`
}

// HealthState is the state of a Site's pods.
type HealthState string

// States of a Site's pods.
const (
	// HealthAvailable means that each Deployment has at least one available pod of the image.
	HealthAvailable HealthState = "Available"

	// HealthProgressing means that a Deployment has no available pod of the image yet, and that no error was observed.
	HealthProgressing HealthState = "Progressing"

	// HealthUnavailable means that a Deployment has no available pod of the image; reason has the cause.
	HealthUnavailable HealthState = "Unavailable"

	// HealthMissing means that the Site has no Deployment of the claim.
	HealthMissing HealthState = "Missing"

	// HealthOtherImage means that a Deployment is for another image.
	HealthOtherImage HealthState = "OtherImage"

	// HealthScaledToZero means that the Deployments have the image, and that their desired number of pods is 0.
	HealthScaledToZero HealthState = "ScaledToZero"

	// HealthNotObserved means that the Site cannot be observed.
	HealthNotObserved HealthState = "NotObserved"
)

// RouteHealth is the report of a Site's Gateways about the routes.
type RouteHealth struct {
	// Accepted reports whether each parent of each route accepted its current generation, and resolved its references.
	// +required
	Accepted bool `json:"accepted"`

	// Reason why the routes are not accepted: RouteMissing, RouteNotAccepted or RefsNotResolved, or the reason why the Site cannot be observed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// Revision of the deployment that the Site ran, according to its SiteSync, before the routes were read: they are the routes of this revision or of a later
	// one. 0 means that the Site was not proven to run a revision. Absent at a Site without an engine, where nothing proves a revision, and in a status of a
	// provider that did not record it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Revision *int64 `json:"revision,omitempty"`
}

// SiteHealthState is the observed state of one Site.
type SiteHealthState struct {
	// Name of the Site.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// State of the Site's pods.
	// +required
	// +kubebuilder:validation:Enum=Available;Progressing;Unavailable;Missing;OtherImage;ScaledToZero;NotObserved
	State HealthState `json:"state"`

	// Available is the number of available pods of the image.
	// +optional
	Available int32 `json:"available"`

	// AvailableOther is the number of available pods of other images.
	// +optional
	AvailableOther int32 `json:"availableOther,omitempty"`

	// Updated is the number of pods of the image.
	// +optional
	Updated int32 `json:"updated"`

	// Desired is the desired number of pods of the Deployments.
	// +optional
	Desired int32 `json:"desired"`

	// CountsAsServing is true for a Site that cannot be observed and whose engine reports its objects as healthy, or that has no engine and sets
	// engine.unobservedIsLive. It is about the last delivery, whatever its image.
	// +optional
	CountsAsServing bool `json:"countsAsServing,omitempty"`

	// WorkloadSeen is true once the cluster of the control plane had a Deployment of the claim for a Site whose workload may run elsewhere. The Site then no
	// longer counts as serving because of a delivery: if the Deployment goes, the workload is missing. False for other Sites. Absent in a status of a
	// provider that did not record it.
	// +optional
	WorkloadSeen *bool `json:"workloadSeen,omitempty"`

	// Reason of the state. Empty with Available.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`

	// Route is the report of the Gateways. Absent if no route is observed.
	// +optional
	Route *RouteHealth `json:"route,omitempty"`
}

// SiteHealthObservation is the observed state of the Sites.
type SiteHealthObservation struct {
	// Image that the observation is about.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// SitesServing is the number of Sites that have an available pod of the image for each Deployment, have a desired number of 0, or count as serving.
	// +optional
	SitesServing int32 `json:"sitesServing"`

	// Sites, in the order of the spec.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=name
	Sites []SiteHealthState `json:"sites,omitempty"`
}

// SiteHealthSpec names the workload to observe.
type SiteHealthSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider names the workload to observe.
	// +required
	ForProvider SiteHealthParameters `json:"forProvider"`
}

// SiteHealthStatus is the last observation.
type SiteHealthStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state of the Sites.
	// +optional
	AtProvider SiteHealthObservation `json:"atProvider,omitempty"`
}

// A SiteHealth observes whether the pods of one image serve at the Sites of a deployment. It is Ready when each Site serves and each route is
// accepted. It creates no objects, so its deletion cleans up none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=sitehealths,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="CLAIM",type="string",JSONPath=".spec.forProvider.claimRef.name"
// +kubebuilder:printcolumn:name="SERVING",type="integer",JSONPath=".status.atProvider.sitesServing"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type SiteHealth struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the observation.
	// +required
	Spec SiteHealthSpec `json:"spec"`

	// Status of the observation.
	// +optional
	Status SiteHealthStatus `json:"status,omitempty"`
}

// SiteHealthList contains a list of SiteHealths.
//
// +kubebuilder:object:root=true
type SiteHealthList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SiteHealth `json:"items"`
}

// IsServing reports whether a Site serves the image: it has an available pod for each Deployment, has a desired number of 0, or counts as serving.
func (s SiteHealthState) IsServing() bool {
	return s.State == HealthAvailable || s.State == HealthScaledToZero || s.State == HealthNotObserved && s.CountsAsServing
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&SiteHealth{}, &SiteHealthList{})
}
