package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// ImageBuildParameters are the source and the settings of a build.
type ImageBuildParameters struct {
	// ClaimRef names the Application that the image is for. It is in the namespace of the ImageBuild.
	// +required
	ClaimRef rolloutv1alpha1.ClaimReference `json:"claimRef"`

	// Source that is built.
	// +required
	Source Source `json:"source"`

	Settings `json:",inline"`
}

// WantedImage identifies the requested image.
type WantedImage struct {
	// Request is the digest of the build request: the source, and the build settings.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Source is the digest of the repository and the revision that Commit was found for.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Source string `json:"source,omitempty"`

	// Commit that the revision is at. Empty while that is not known, and for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// SeenAt is the time of the first observation of Commit.
	// +optional
	SeenAt *metav1.Time `json:"seenAt,omitempty"`
}

// SourceTrouble is the error of the last observation of the repository.
type SourceTrouble struct {
	// Reason why the check of the repository found no commit. Empty if it found a commit.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the reason.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// AppliedImage is the Image of kpack that was applied.
type AppliedImage struct {
	// UID of the Image.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Name of the Image. It is in the namespace of the ImageBuild.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`
}

// RunningBuild is a Build of kpack that has not ended.
type RunningBuild struct {
	// Build by its name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Build string `json:"build"`

	// UID of the Build. kpack uses a name again once the Image was made again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Commit that it builds.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Step that runs: prepare, analyze, detect, restore, build, export, rebase or completion. The value may be half a minute old.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step,omitempty"`

	// StartedAt is the time of its creation.
	// +optional
	StartedAt *metav1.Time `json:"startedAt,omitempty"`
}

// BuiltImage is an image that was built.
type BuiltImage struct {
	// Request that it was built for.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Commit that it was built of. Empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Build that made it, by its name.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Build string `json:"build,omitempty"`

	// UID of the Build. kpack uses a name again once the Image was made again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Image with its digest.
	// +required
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// Reason why kpack built it, such as COMMIT, CONFIG, STACK or BUILDPACK.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason,omitempty"`

	// At is the time when the Build ended.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// Rebuilds is the number of other images of the same request and commit that were accepted since RebuildsSince, at most three in an hour.
	// +optional
	Rebuilds int32 `json:"rebuilds,omitempty"`

	// RebuildsSince is the time when the first of them was accepted.
	// +optional
	RebuildsSince *metav1.Time `json:"rebuildsSince,omitempty"`
}

// FailedBuild is a Build of kpack that failed.
type FailedBuild struct {
	// Request that it was made for.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Commit that it built. Empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Build by its name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Build string `json:"build"`

	// UID of the Build. kpack uses a name again once the Image was made again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Reason why it failed: StepFailed, Evicted, NodeLost, Preempted, DeadlineExceeded, PodDeleted or NotStarted.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Step that failed. Empty if it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Step string `json:"step,omitempty"`

	// Message that explains the reason, on one line.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// Logs is the command that shows the log of the step that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Logs string `json:"logs,omitempty"`

	// At is the time when the Build ended.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// Attempts is the number of successive Builds of the same request and commit that failed because of the infrastructure. 0 means that this one
	// failed because of its source.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// BuilderChanges counts Builds of one request and commit that failed and were requested again, because the builder had changed.
type BuilderChanges struct {
	// Request is the digest of the build request.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Commit that the Builds were for. Empty for an archive.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// Count of these Builds since a time. At most three are requested in an hour.
	// +optional
	Count int32 `json:"count,omitempty"`

	// Since is the time of the first request among them.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// ImageBuildObservation is the observed state of the source and of kpack.
type ImageBuildObservation struct {
	// Wanted identifies the requested image.
	// +optional
	Wanted WantedImage `json:"wanted,omitempty"`

	// SourceTrouble is the error of the last observation of the repository, or the reason why it was not observed.
	// +optional
	SourceTrouble SourceTrouble `json:"sourceTrouble,omitempty"`

	// Image of kpack that was applied.
	// +optional
	Image AppliedImage `json:"image,omitempty"`

	// Running is the running Build. Absent if none exists.
	// +optional
	Running *RunningBuild `json:"running,omitempty"`

	// Latest is the last built and accepted image. Absent if none exists.
	// +optional
	Latest *BuiltImage `json:"latest,omitempty"`

	// Failed is the last Build, if it failed. Absent if it did not.
	// +optional
	Failed *FailedBuild `json:"failed,omitempty"`

	// BuilderChanges counts Builds that were requested again because of another builder. Absent means 0.
	// +optional
	BuilderChanges *BuilderChanges `json:"builderChanges,omitempty"`

	// LookNow is the last value of annotation build.intentplane.dev/look-now that was answered, and that of crossplane.io/reconcile-requested-at, which
	// the Application passes on: the repository was observed, or sourceTrouble has the error. An archive is never observed.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LookNow string `json:"lookNow,omitempty"`
}

// ImageBuildSpec is the requested build.
type ImageBuildSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is the requested build.
	// +required
	ForProvider ImageBuildParameters `json:"forProvider"`
}

// ImageBuildStatus is the last observation.
type ImageBuildStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state of the source and of kpack.
	// +optional
	AtProvider ImageBuildObservation `json:"atProvider,omitempty"`
}

// An ImageBuild finds the commit of a revision, and has kpack build an image of it. It is Ready when there is an image of just that commit, built by the
// current request. Its configuration, which has to be a ClusterProviderConfig, has the registry of the images. It owns one Image of kpack, which is deleted
// with it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=imagebuilds,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="REVISION",type="string",JSONPath=".spec.forProvider.source.git.revision"
// +kubebuilder:printcolumn:name="COMMIT",type="string",JSONPath=".status.atProvider.wanted.commit"
// +kubebuilder:printcolumn:name="BUILD",type="string",JSONPath=".status.atProvider.running.build"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="IMAGE",type="string",priority=1,JSONPath=".status.atProvider.latest.image"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type ImageBuild struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the build.
	// +required
	Spec ImageBuildSpec `json:"spec"`

	// Status of the build.
	// +optional
	Status ImageBuildStatus `json:"status,omitempty"`
}

// ImageBuildList contains a list of ImageBuilds.
//
// +kubebuilder:object:root=true
type ImageBuildList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ImageBuild `json:"items"`
}

// WantedImage returns the image whose request and commit are the requested ones, or nil.
func (o *ImageBuildObservation) WantedImage() *BuiltImage {
	if l := o.Latest; l != nil && o.Wanted.Request != "" && l.Request == o.Wanted.Request && l.Commit == o.Wanted.Commit {
		return l
	}
	return nil
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&ImageBuild{}, &ImageBuildList{})
}
