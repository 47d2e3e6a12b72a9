package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CanaryState is the reason why a revision in tracks waits.
type CanaryState string

// States of a revision in tracks. Empty means that it is at rest.
const (
	// CanaryPreparing means that pods start, and get no requests yet.
	CanaryPreparing CanaryState = "Preparing"

	// CanaryShifting means that the Sites are about to give the revision the weight of its step.
	CanaryShifting CanaryState = "Shifting"

	// CanaryMeasuring means that the Gate of the step measures.
	CanaryMeasuring CanaryState = "Measuring"

	// CanaryPaused means that the pause behind the step runs, until the time in until.
	CanaryPaused CanaryState = "Paused"

	// CanaryAwaitingPromotion means that a person has to release the step with a RolloutRequest.
	CanaryAwaitingPromotion CanaryState = "AwaitingPromotion"

	// CanaryHeld means that the Gate of the step came to no verdict, and that a person has to release the step or give the revision up.
	CanaryHeld CanaryState = "Held"

	// CanaryDraining means that a track has lost its requests, and stays until its open requests have ended.
	CanaryDraining CanaryState = "Draining"

	// CanaryRollingBack means that the revision was rejected, and that its requests go back to the previous revision.
	CanaryRollingBack CanaryState = "RollingBack"
)

// CanaryStates returns all states of a revision in tracks, except the empty state at rest.
func CanaryStates() []CanaryState {
	return []CanaryState{
		CanaryPreparing, CanaryShifting, CanaryMeasuring, CanaryPaused, CanaryAwaitingPromotion, CanaryHeld, CanaryDraining, CanaryRollingBack,
	}
}

// CanaryStatus is the progress of a revision in tracks.
type CanaryStatus struct {
	// State is the reason why the revision waits. Empty means that it is at rest.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State CanaryState `json:"state,omitempty"`

	// Step of the plan, from 1, and the number of steps, such as 3/5. The start of the pods is the first step.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Step string `json:"step,omitempty"`

	// Weight of the requests that the step gives to the revision at its Sites, in percent. In a rollback it is 0.
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// Track that the pods of the revision are in.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Track string `json:"track,omitempty"`

	// StableRevision is the revision that gets all other requests. Absent if none exists.
	// +optional
	StableRevision int64 `json:"stableRevision,omitempty"`

	// Until is the end of the pause behind the step. Absent without a pause.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`

	// Promote is the step, counted from 1 as in step, that a RolloutRequest with action Promote has to name to release the revision. Absent while
	// no promotion is awaited.
	// +optional
	Promote *int32 `json:"promote,omitempty"`
}
