package v1alpha1

// Numbers of pods of a canary.
const (
	// ScaleWeight gives a canary the pods for its share of the requests in the next step.
	ScaleWeight = "Weight"

	// ScaleFull gives a canary all pods from the first step on.
	ScaleFull = "Full"
)

// Actions after the Gate of a step comes to no verdict.
const (
	// InconclusiveReject rejects the revision.
	InconclusiveReject = "Reject"

	// InconclusiveHold waits until a user releases the step or aborts the revision.
	InconclusiveHold = "Hold"
)

// CanaryPause is the least time of a step.
type CanaryPause struct {
	// Duration of the pause, from 1s to 720h, from when the last Site of the step is live. Absent means until a RolloutRequest with action Promote
	// releases it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('720h')",message="must be from 1s to 720h"
	Duration Duration `json:"duration,omitempty"`
}

// CanaryStep gives a revision more of the requests, or pauses behind the step before.
//
// +kubebuilder:validation:XValidation:rule="has(self.weight) != has(self.pause)",message="exactly one of weight and pause must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.gate) || has(self.weight)",message="gate goes with weight"
type CanaryStep struct {
	// Weight of the requests that the revision gets, in percent, from 1 to 100. Each weight has to be higher than the previous weight. If the last
	// weight is not 100, a step of 100 follows it. A step below 100 without a Gate and without a pause lasts 15s.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`

	// Gate specifies whether the checks of the deployment judge the step. Absent means true. Goes with weight.
	// +optional
	Gate *bool `json:"gate,omitempty"`

	// Pause behind the preceding weight. An item before the first weight is the pause behind the start of the pods, which get no requests yet.
	// +optional
	Pause *CanaryPause `json:"pause,omitempty"`
}

// CanaryConfig has the steps in which a revision gets the requests of the previous revision. The Blueprint has to have spec.canary.
type CanaryConfig struct {
	// Enabled specifies whether the rollout has steps. Without steps, a revision replaces the previous revision at once.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// Steps of each wave without its own steps. The pods start before the first step, and get no requests. Empty means that the revision gets all requests once
	// its pods are available. All waves together have at most 20 steps, with one for the start of the pods in each.
	// +optional
	// +kubebuilder:validation:MaxItems=19
	// +kubebuilder:validation:XValidation:rule="self.filter(s, has(s.weight)).map(s, s.weight).isSorted() && self.filter(s, has(s.weight)).all(s, self.filter(t, has(t.weight) && t.weight == s.weight).size() == 1)",message="each weight must be higher than the previous weight"
	// +kubebuilder:validation:XValidation:rule="[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17].all(i, i + 1 >= self.size() || !has(self[i].pause) || !has(self[i + 1].pause))",message="a weight must stand between two pauses"
	// +listType=atomic
	Steps []CanaryStep `json:"steps,omitempty"`

	// Scale is the number of pods of the revision before it gets all requests: Weight (default) is the number that its share needs in the next step,
	// at least one, and Full is all. The previous revision keeps all of its pods.
	// +optional
	// +kubebuilder:default=Weight
	// +kubebuilder:validation:Enum=Weight;Full
	Scale string `json:"scale,omitempty"`

	// Drain is the time that pods stay after they lost their requests, from 1s to 10m, so that open requests end, and the gateway has time to follow
	// its routes. It has to be less than rollbackConfig.attemptTimeout. Default: 30s.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="must be from 1s to 10m"
	Drain Duration `json:"drain,omitempty"`

	// OnInconclusive is the action after the Gate of a step comes to no verdict: Reject (default) rejects the revision, and Hold waits for a user.
	// +optional
	// +kubebuilder:default=Reject
	// +kubebuilder:validation:Enum=Reject;Hold
	OnInconclusive string `json:"onInconclusive,omitempty"`
}
