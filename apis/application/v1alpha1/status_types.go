package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Phase of an Application.
type Phase string

// Phases.
const (
	// PhasePending means that a prerequisite is missing, or that the spec was not observed yet.
	PhasePending Phase = "Pending"

	// PhaseBuilding means that the requested source has no image yet.
	PhaseBuilding Phase = "Building"

	// PhaseDeploying means that the image is being delivered or judged, or that no pod of it is available.
	PhaseDeploying Phase = "Deploying"

	// PhaseRunning means that the image is deployed, and that each Site has an available pod of it.
	PhaseRunning Phase = "Running"

	// PhaseDegraded means that the image is deployed and that some Sites have no available pod of it, or that it was rolled back.
	PhaseDegraded Phase = "Degraded"

	// PhaseFailed means that the spec cannot be compiled, or that its build or deployment failed.
	PhaseFailed Phase = "Failed"
)

// SourceStatus is the observed state of the source.
type SourceStatus struct {
	// Revision that the spec requests.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Revision string `json:"revision,omitempty"`

	// Commit of the revision. Empty while it is unknown, and for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// SeenAt is the time of the first observation of the commit.
	// +optional
	SeenAt *metav1.Time `json:"seenAt,omitempty"`
}

// WaitingImage is an image that was built again, and is not delivered.
type WaitingImage struct {
	// Image with its digest.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Reason why kpack built it, such as STACK or BUILDPACK.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`
}

// BuildStatus is the progress of the build for the current spec.
type BuildStatus struct {
	// State of the build: NotRequired, Waiting, Building, Succeeded, Failed or Unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// Name of the Build of kpack.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// Commit that it builds or built. Empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Reason why the build waits, or failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Step of the build that runs, or that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step,omitempty"`

	// Image that was built for the current spec.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// Logs is the command that shows the log of the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Logs string `json:"logs,omitempty"`

	// Waiting is an image that was built again, and that build.updates holds back.
	// +optional
	Waiting WaitingImage `json:"waiting,omitzero"`
}

// BuiltImage is an image that was built, with the inputs of its build.
type BuiltImage struct {
	// Image with its digest.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// Request is the digest of the build request that it was built for: the source, and the build settings.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Commit that it was built of. Empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Build of kpack that made it, by its name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Build string `json:"build,omitempty"`
}

// DeploymentStatus is the state of the Application's IntentDeployment.
type DeploymentStatus struct {
	// Name of the IntentDeployment. It is in the namespace of the Application.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// Revision that is delivered. 0 means that the ledger has no revision.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// VerifiedRevision is the newest revision that was verified. 0 means none.
	// +optional
	VerifiedRevision int64 `json:"verifiedRevision,omitempty"`

	// Outcome of the deployment of the commit and the spec that this status is about, when it came to an end: Succeeded, Failed or RolledBack.
	// Empty before, and while they have no image, or are held back.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Outcome string `json:"outcome,omitempty"`
}

// SiteStatus is the state of the Application at one Site.
type SiteStatus struct {
	// State of the pods at the Site: Available, Progressing, Unavailable, Missing, OtherImage, ScaledToZero or NotObserved.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State string `json:"state,omitempty"`

	// Available is the number of available pods of the image.
	// +optional
	Available int32 `json:"available"`

	// Updated is the number of pods of the image.
	// +optional
	Updated int32 `json:"updated"`

	// Desired is the desired number of pods at the Site.
	// +optional
	Desired int32 `json:"desired"`

	// Reason why the Site has no available pod of the image, or not all of them.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
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

// ApplicationStatus is a projection of the observed state. Each part of it can be deleted and computed again, except for transitions,
// which no decision depends on, and for builtImage. Crossplane adds the conditions.
type ApplicationStatus struct {
	// Phase of the current spec.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// SpecDigest of the spec that this status describes.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SpecDigest string `json:"specDigest,omitempty"`

	// Source that the image is built of. Absent if the spec names the image.
	// +optional
	Source SourceStatus `json:"source,omitzero"`

	// Build for the current spec.
	// +optional
	Build BuildStatus `json:"build,omitzero"`

	// BuiltImage is the record of the built image that the deployment has to have. No field of the deployment replaces it, since its editors can write these.
	// Absent before the first image of a source, and if the spec names the image. If it is lost, a rebuilt image that build.updates holds back waits
	// for its approval or for the next commit.
	// +optional
	BuiltImage BuiltImage `json:"builtImage,omitzero"`

	// Commit that the deployment's desired image was built from.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// ShortCommit is the first characters of the commit, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	ShortCommit string `json:"shortCommit,omitempty"`

	// Image is the desired image of the deployment.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// ShortImage is the end of the image's name with its tag, or the first characters of its digest, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ShortImage string `json:"shortImage,omitempty"`

	// Deployment of the image.
	// +optional
	Deployment DeploymentStatus `json:"deployment,omitzero"`

	// AvailableReplicas is the number of available pods of the image, at all Sites together.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas"`

	// Available is the number of serving Sites and of all Sites, such as 2/2.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Available string `json:"available,omitempty"`

	// Sites by name.
	// +optional
	// +kubebuilder:validation:MaxProperties=500
	Sites map[string]SiteStatus `json:"sites,omitempty"`

	// URL of the service, if it has a route.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`

	// Transitions are the last changes of the phase, the newest one last.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Transitions []Transition `json:"transitions,omitempty"`
}

// IsRolledBack reports whether the image of the present request was rolled back. Of a request that has no image yet, the outcome is of an earlier request.
func (s *ApplicationStatus) IsRolledBack() bool {
	return s.Phase == PhaseDegraded && s.Deployment.Outcome == string(deploymentv1alpha1.OutcomeRolledBack)
}
