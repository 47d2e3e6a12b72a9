package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
)

// ClaimReference names the claim, or the namespaced composite, for which an object was created.
type ClaimReference struct {
	// APIGroup of the claim. It distinguishes a claim from a namespaced composite of the same name.
	// +required
	// +kubebuilder:validation:Enum=claims.intentplane.dev;intentplane.dev
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="claimRef never changes"
	APIGroup string `json:"apiGroup"`

	// Kind of the claim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="claimRef never changes"
	Kind string `json:"kind"`

	// Namespace of the claim.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="claimRef never changes"
	Namespace string `json:"namespace"`

	// Name of the claim.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="claimRef never changes"
	Name string `json:"name"`

	// UID of the claim. Empty when it is unknown. A reference is for the same claim whatever its UID: a claim that was
	// restored from a backup continues its earlier deliveries.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// Reasons of a rejection.
const (
	// RejectedDeliveryTimedOut means that errors of a repository lasted longer than deliveryTimeout.
	RejectedDeliveryTimedOut = "DeliveryTimedOut"

	// RejectedDeliveryRefused means that a repository, or a limit, refused the revision.
	RejectedDeliveryRefused = ledger.RejectedDelivery

	// RejectedSyncTimedOut means that a Site took longer than syncWaitTimeout to run the revision.
	RejectedSyncTimedOut = "SyncTimedOut"

	// RejectedSyncFailed means that the engine of a Site tried the revision, and failed.
	RejectedSyncFailed = "SyncFailed"

	// RejectedClusterTimedOut means that the cluster of a Site took longer than clusterWaitTimeout to become ready.
	RejectedClusterTimedOut = "ClusterTimedOut"

	// RejectedFilesLost means that no object has the files that a move from or to tracks replaces.
	RejectedFilesLost = ledger.RejectedFilesLost

	// RejectedGateFailed means that a Gate of the revision failed.
	RejectedGateFailed = "GateFailed"

	// RejectedRequested means that a user ended the revision, by a RolloutRequest or an edit.
	RejectedRequested = "Requested"
)

// MaxReason is the number of characters of a RolloutRequest's reason that the ledger repeats.
const MaxReason = 256

// Attempt is one attempt to apply a step of a revision.
type Attempt struct {
	// Revision that was tried.
	// +required
	Revision int64 `json:"revision"`

	// Step that was tried.
	// +required
	Step int32 `json:"step"`

	// Number of the attempt: 0 while the revision rolls out, 1, 2 … for its rollbacks.
	// +required
	Number int32 `json:"number"`

	// StartedAt is the time when the attempt began. It is the date of the attempt's commit, so that a repeat makes the same commit.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// EndedAt is the time when the target of the attempt was first observed in place. Absent while the attempt is in progress.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}
