package ledger

// A Cursor is the position of the current revision: its attempt, its step and its stage.
type Cursor struct {
	// Attempt is 0 while the revision goes out, and 1, 2 … for its rollbacks.
	// +required
	// +kubebuilder:validation:Minimum=0
	Attempt int32 `json:"attempt"`

	// Step is the index of the step of the plan, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=19
	Step int32 `json:"step"`

	// Stage is the part of the step, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4
	Stage int32 `json:"stage"`

	// Promoted is the highest step whose pause a user released. 0 means that none was. The number of steps means the verdict, which a pause behind
	// the last step holds back. It releases no Gate.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Promoted int32 `json:"promoted"`

	// GateReleased is the step behind the last Gate that a user released after it came to no verdict, counted as Promoted is. 0 means that none was.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	GateReleased int32 `json:"gateReleased,omitempty"`

	// Full is set after a user released all steps. Steps that would share requests are left out, once the pods are enough for all requests.
	// +optional
	Full bool `json:"full,omitempty"`
}
