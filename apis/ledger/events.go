package ledger

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Event is one thing that happened to a deployment. Exactly one of its fields but At is set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.opened), has(self.ordered), has(self.advanced), has(self.promoted), has(self.judged), has(self.rolledBack), has(self.restored), has(self.withdrawn), has(self.rebased), has(self.recovered), has(self.moved), has(self.closed)].filter(set, set).size() == 1",message="exactly one of opened, ordered, advanced, promoted, judged, rolledBack, restored, withdrawn, rebased, recovered, moved and closed must be set"
type Event struct {
	// At is the time when the event was recorded. The provider sets it when it records the event, and overwrites any earlier value. The ID
	// of a head does not depend on it. Absent for an event that was not recorded yet.
	// +optional
	At *metav1.Time `json:"at,omitempty"`

	// Opened begins a ledger.
	// +optional
	Opened *Opened `json:"opened,omitempty"`

	// Ordered begins the next revision.
	// +optional
	Ordered *Ordered `json:"ordered,omitempty"`

	// Advanced begins the next step or stage.
	// +optional
	Advanced *Advanced `json:"advanced,omitempty"`

	// Promoted releases pauses that wait for a user.
	// +optional
	Promoted *Promoted `json:"promoted,omitempty"`

	// Judged gives the current revision its verdict.
	// +optional
	Judged *Judged `json:"judged,omitempty"`

	// RolledBack begins an attempt to roll the current revision back.
	// +optional
	RolledBack *RolledBack `json:"rolledBack,omitempty"`

	// Restored ends a rollback.
	// +optional
	Restored *Restored `json:"restored,omitempty"`

	// Withdrawn withdraws verified revisions on a user's request.
	// +optional
	Withdrawn *Withdrawn `json:"withdrawn,omitempty"`

	// Rebased gives the current revision the digests of a request that renders the same trees.
	// +optional
	Rebased *Rebased `json:"rebased,omitempty"`

	// Recovered continues a ledger after a loss, with a newer copy of its state.
	// +optional
	Recovered *Recovered `json:"recovered,omitempty"`

	// Moved seals a ledger that continues in another home.
	// +optional
	Moved *Moved `json:"moved,omitempty"`

	// Closed seals the ledger of a deployment that was deleted.
	// +optional
	Closed *Closed `json:"closed,omitempty"`
}

// Opened begins a ledger.
type Opened struct {
	// Ledger identifies the ledger by its opener and its time.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Ledger string `json:"ledger"`

	// Home is the name of the ClusterProviderConfig of the repository that holds the ledger, or ProviderConfig/ and the name of a ProviderConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=268
	Home string `json:"home"`
}

// Ordered begins the next revision.
type Ordered struct {
	// Revision that begins.
	// +required
	Revision Revision `json:"revision"`

	// AdoptEnabled permits overwriting files of another user's commits from now on, so that a repository may accept a delivery that it refused before.
	// +optional
	AdoptEnabled bool `json:"adoptEnabled,omitempty"`
}

// Advanced begins the next step or stage.
type Advanced struct {
	// Step that begins or continues its plan.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=19
	Step int32 `json:"step"`

	// Stage that begins.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4
	Stage int32 `json:"stage"`
}

// Promoted releases pauses that wait for a user.
type Promoted struct {
	// Step that is released, with all before it. The number of steps releases the verdict, which a pause behind the last step holds back. Not
	// read if full is set.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	Step int32 `json:"step,omitempty"`

	// Full releases all steps.
	// +optional
	Full bool `json:"full,omitempty"`

	// Gate also releases the Gate of the current step, which came to no verdict: the user saw that. Absent means that the event releases pauses alone.
	// +optional
	Gate bool `json:"gate,omitempty"`

	// RequestRef names the RolloutRequest of the event.
	// +required
	RequestRef RequestReference `json:"requestRef"`
}

// Judged gives the current revision its verdict.
type Judged struct {
	// Verdict on the revision.
	// +required
	Verdict Verdict `json:"verdict"`

	// Trees that each Site of the plan was proven to run. Only of a verified revision.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	Trees []SiteTree `json:"trees,omitempty"`

	// RequestRef names the RolloutRequest of a rejection. Absent means that none exists.
	// +optional
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// RolledBack begins an attempt to roll the current revision back.
type RolledBack struct {
	// Target is the revision whose trees are restored.
	// +required
	// +kubebuilder:validation:Minimum=1
	Target int64 `json:"target"`
}

// Restored ends a rollback: each Site was proven to run the trees of the target.
type Restored struct{}

// Withdrawn withdraws the current revision and all revisions after the target, on a user's request. It begins a revision that is rejected at once.
type Withdrawn struct {
	// Target is the revision that the user rolls back to.
	// +required
	// +kubebuilder:validation:Minimum=1
	Target int64 `json:"target"`

	// Message of the verdict on the revision that begins.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// RequestRef names the RolloutRequest of the event.
	// +required
	RequestRef RequestReference `json:"requestRef"`
}

// Rebased gives the current revision the digests of a request that renders the same trees.
type Rebased struct {
	// Request that renders the trees of the current revision.
	// +required
	Request Request `json:"request"`

	// Blueprint that the request was compiled with.
	// +optional
	Blueprint *BlueprintReference `json:"blueprint,omitempty"`
}

// Recovered continues a ledger in the next epoch, with the state of a newer copy.
type Recovered struct {
	// Copy is the newest state that was found.
	// +required
	Copy State `json:"copy"`

	// LastNumber is the highest number of a revision that was found anywhere.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	LastNumber int64 `json:"lastNumber,omitempty"`

	// RequestRef names the RolloutRequest that moved the ledger although its home could not be reached. Absent means that none did.
	// +optional
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// Moved seals a ledger that continues in another home.
type Moved struct {
	// Home is the name of the ClusterProviderConfig of the repository that holds the ledger from now on, or ProviderConfig/ and the name of a ProviderConfig.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=268
	Home string `json:"home"`

	// RequestRef names the RolloutRequest of the event.
	// +required
	RequestRef RequestReference `json:"requestRef"`
}

// Closed seals the ledger of a deployment that was deleted.
type Closed struct{}
