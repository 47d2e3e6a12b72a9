package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase of a Bundle.
type Phase string

// Phases.
const (
	// PhasePending means that the spec was not observed yet.
	PhasePending Phase = "Pending"

	// PhaseDeploying means that packages are being deployed or removed, or wait for other packages.
	PhaseDeploying Phase = "Deploying"

	// PhaseSucceeded means that each package runs its current spec.
	PhaseSucceeded Phase = "Succeeded"

	// PhaseDegraded means that each package was deployed, and that a package became unready.
	PhaseDegraded Phase = "Degraded"

	// PhaseFailed means that the spec cannot be compiled, or that a package failed.
	PhaseFailed Phase = "Failed"
)

// PackageStatus is the state of one package.
type PackageStatus struct {
	// Name of the package.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Version that is deployed. Empty means none, or that it is unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Status of the package, with a value of the record: not_deployed, deploying, success, failed, removing, removed, failed_remove or unreferenced.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Status string `json:"status,omitempty"`

	// Ready reports whether the package is ready now.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// Layer in which the package is deployed, from 1. 0 for a package that left the Bundle.
	// +optional
	Layer int32 `json:"layer,omitempty"`

	// Revision that is delivered. 0 means none.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// Commit that delivered the revision to the repository.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// UsedBy are other bundles of the namespace that have the package, too.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	UsedBy []string `json:"usedBy,omitempty"`

	// Reason why the package does not have status success.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the status.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// RecordStatus is the location of the record of a Bundle.
type RecordStatus struct {
	// Secret that holds the record, in the namespace of the Bundle.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret,omitempty"`
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

// BundleStatus is a projection of the observed state. Each part of it can be deleted and computed again, except for transitions,
// which no decision depends on. Crossplane adds the conditions.
type BundleStatus struct {
	// Phase of the current spec.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// State is the status of the Bundle, with a value of the record: not_deployed, deploying, success, failed or removing.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// Version that the spec requests.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// SpecDigest of the spec that this status describes.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SpecDigest string `json:"specDigest,omitempty"`

	// Ready is the number of deployed and ready packages, and of all packages to deploy, such as 3/4.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Ready string `json:"ready,omitempty"`

	// Unreferenced is the number of packages that left the Bundle and are still in the cluster.
	// +optional
	Unreferenced int32 `json:"unreferenced"`

	// Packages of the Bundle, and packages that left it: the first 128.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	Packages []PackageStatus `json:"packages,omitempty"`

	// Record of the Bundle.
	// +optional
	Record RecordStatus `json:"record,omitzero"`

	// Transitions are the last changes of the phase, the newest one last.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Transitions []Transition `json:"transitions,omitempty"`
}
