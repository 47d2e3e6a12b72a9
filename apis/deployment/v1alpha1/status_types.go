package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Phase of an IntentDeployment.
type Phase string

// Phases, in the order of a successful deployment.
const (
	PhasePending     Phase = "Pending"
	PhaseCompiling   Phase = "Compiling"
	PhaseRendering   Phase = "Rendering"
	PhaseDelivering  Phase = "Delivering"
	PhaseValidating  Phase = "Validating"
	PhaseSucceeded   Phase = "Succeeded"
	PhaseFailed      Phase = "Failed"
	PhaseRollingBack Phase = "RollingBack"
)

// Outcome of an IntentDeployment whose revision has ended.
type Outcome string

// Outcomes. Empty means that none exists yet.
const (
	OutcomeSucceeded  Outcome = "Succeeded"
	OutcomeFailed     Outcome = "Failed"
	OutcomeRolledBack Outcome = "RolledBack"
)

// SyncState is the observed state of the Sites of a delivery.
type SyncState string

// States of a delivery's Sites.
const (
	// SyncPending means that the repository does not hold all trees of the revision yet.
	SyncPending SyncState = "Pending"

	// SyncSyncing means that the repository holds all trees, and that not every Site was proven to run its tree.
	SyncSyncing SyncState = "Syncing"

	// SyncLive means that every observed Site was proven to run its tree.
	SyncLive SyncState = "Live"

	// SyncFailed means that a Site failed, or took too long.
	SyncFailed SyncState = "Failed"

	// SyncUnobserved means that the repository holds all trees, and that no engine reports the running trees.
	SyncUnobserved SyncState = "Unobserved"
)

// SiteState is the state of one Site.
type SiteState string

// States of a Site.
const (
	// SiteWaitingForCluster means that the Site receives nothing until its cluster is ready.
	SiteWaitingForCluster SiteState = "WaitingForCluster"

	// SitePending means that the repository does not hold the Site's tree yet.
	SitePending SiteState = "Pending"

	// SiteDelivered means that the repository holds the Site's tree, which counts as live: no engine reports the tree that the Site runs.
	SiteDelivered SiteState = "Delivered"

	// SiteSyncing means that the repository holds the Site's tree, and that the Site was not proven to run it.
	SiteSyncing SiteState = "Syncing"

	// SiteLive means that the Site was proven to run its tree.
	SiteLive SiteState = "Live"

	// SiteUnobserved means that the repository holds the Site's tree, that no engine reports the tree that the Site runs, and that it does not
	// count as live.
	SiteUnobserved SiteState = "Unobserved"

	// SiteTimedOut means that the Site took too long to run its tree.
	SiteTimedOut SiteState = "TimedOut"

	// SiteFailed means that the tree cannot be delivered, or that the Site's engine tried it and failed.
	SiteFailed SiteState = "Failed"
)

// SiteStatus is the state of one Site.
type SiteStatus struct {
	// State of the Site.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State SiteState `json:"state,omitempty"`

	// Commit that the Site was proven to run; before that, the commit that brought its tree to the branch.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Commit string `json:"commit,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// Weight of the requests that the Site gives to the revision, in percent, as the repository holds it. Absent for a deployment without tracks.
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// SiteMessageWaveAwaited is the message of a Site that waits for its wave.
const SiteMessageWaveAwaited = "Its wave has not come."

// DeliveryStatus is the state of the delivery.
type DeliveryStatus struct {
	// GitCommit is the commit of the revision in the branch. With several repositories it is the commit in the first repository. Empty before the push.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	GitCommit string `json:"gitCommit,omitempty"`

	// ShortCommit is the first characters of gitCommit, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=12
	ShortCommit string `json:"shortCommit,omitempty"`

	// SitesReady is the number of live Sites and of all Sites, such as 2/3.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	SitesReady string `json:"sitesReady,omitempty"`

	// SyncState is the observed state of the Sites.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	SyncState SyncState `json:"syncState,omitempty"`

	// Sites by name.
	// +optional
	// +kubebuilder:validation:MaxProperties=500
	Sites map[string]SiteStatus `json:"sites,omitempty"`
}

// BlueprintStatus names the Blueprint that the deployment was compiled with.
type BlueprintStatus struct {
	// Name of the Blueprint.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// Digest of the Blueprint's spec.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`
}

// UpdateStatus is a deferred update: it waits for the approval of a user or, for a renderer under the update policy Automatic, for the deployment's
// time of the day.
type UpdateStatus struct {
	// Blueprint in the channel, if it differs from the Blueprint that the deployment stays with.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Blueprint string `json:"blueprint,omitempty"`

	// Renderer is the version of the function's rules, if its rendered files differ from the delivered files.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Renderer string `json:"renderer,omitempty"`
}

// ValidationResult is the result of one check.
type ValidationResult struct {
	// Name of the check.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Site that was checked.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site,omitempty"`

	// Passed reports whether the check passed.
	// +required
	Passed bool `json:"passed"`

	// Value that was measured.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Value string `json:"value,omitempty"`

	// Threshold that the value was judged by.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Threshold string `json:"threshold,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// RollbackStatus is the progress of a rollback.
type RollbackStatus struct {
	// Active reports whether the rollback is in progress.
	// +required
	Active bool `json:"active"`

	// Reason of the rollback.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// PreviousCommit is the commit of the rollback's target.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	PreviousCommit string `json:"previousCommit,omitempty"`

	// Attempts is the number of started attempts.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// RequestStatus is the result of a RolloutRequest.
type RequestStatus struct {
	// Name of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// Result of the RolloutRequest.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Result string `json:"result,omitempty"`

	// End is the end of the revision of a RolloutRequest that is Done: Verified, RolledBack, NothingToRestore or NotRolledBack. Absent
	// before.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	End string `json:"end,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
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

	// Revision at that time. 0 means that the ledger had no revision.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// Epoch of the ledger that the revision belongs to, on the changes to Succeeded and Failed. A ledger that moves to another repository, or is opened
	// again, has the next epoch. 0 on all other changes, and on changes that an older function wrote.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Epoch int64 `json:"epoch,omitempty"`

	// Rejected is the reason of the revision's rejection, on the change to Failed that follows it, and on the change that ends its rollback. Empty on
	// all other changes, such as the change to Failed by an invalid spec.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Rejected string `json:"rejected,omitempty"`

	// Restored is the revision that the Sites run again, on the change that ends a rollback. 0 on all other changes.
	// +optional
	Restored int64 `json:"restored,omitempty"`
}

// IsOfEarlierRequest reports whether phase and outcome belong to an earlier request, because the present request is held back.
func (s *IntentDeploymentStatus) IsOfEarlierRequest() bool { return s.HeldBack && s.Outcome != "" }

// IntentDeploymentStatus is a projection of the observed and recorded state. Each part of it can be deleted and computed
// again, except for transitions, which only events, metrics and notifications depend on. Crossplane adds the conditions.
type IntentDeploymentStatus struct {
	// Phase of the deployment.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Phase Phase `json:"phase,omitempty"`

	// Outcome of the revision. Empty until the revision has ended.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Outcome Outcome `json:"outcome,omitempty"`

	// Message for people.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`

	// IntentDigest of the spec that this status describes.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	IntentDigest string `json:"intentDigest,omitempty"`

	// Understood is the parsed intent, as canonical JSON. Empty if it is longer than 32768 bytes.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Understood string `json:"understood,omitempty"`

	// Revision that is delivered. 0 means that the ledger has no revision.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// HeldBack is set if the spec requests another revision, or its next step, and spec.suspend, or a newer version of the
	// function, holds back that revision or step: the outcome then belongs to an earlier request.
	// +optional
	HeldBack bool `json:"heldBack,omitempty"`

	// LiveRevision is the revision that runs at all Sites. 0 means none.
	// +optional
	LiveRevision int64 `json:"liveRevision,omitempty"`

	// VerifiedRevision is the newest revision that was verified. 0 means none.
	// +optional
	VerifiedRevision int64 `json:"verifiedRevision,omitempty"`

	// Blueprint that the deployment was compiled with.
	// +optional
	Blueprint BlueprintStatus `json:"blueprint,omitzero"`

	// Renderer is the version of the rules by which the trees were rendered.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Renderer string `json:"renderer,omitempty"`

	// Update that waits for its approval or its time. Absent without such an update.
	// +optional
	Update UpdateStatus `json:"update,omitzero"`

	// Delivery is the state of the delivery.
	// +optional
	Delivery DeliveryStatus `json:"delivery,omitzero"`

	// Canary is the progress of a revision in tracks. Absent for a deployment without tracks.
	// +optional
	Canary *CanaryStatus `json:"canary,omitempty"`

	// ValidationResults are the results of the checks.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	ValidationResults []ValidationResult `json:"validationResults,omitempty"`

	// Rollback is the progress of the last rollback. Absent if no rollback has begun.
	// +optional
	Rollback *RollbackStatus `json:"rollback,omitempty"`

	// Requests are the results of the open RolloutRequests, oldest first.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Requests []RequestStatus `json:"requests,omitempty"`

	// Transitions are the last changes of the phase, the newest one last.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Transitions []Transition `json:"transitions,omitempty"`
}
