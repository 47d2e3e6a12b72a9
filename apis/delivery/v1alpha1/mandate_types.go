package v1alpha1

import (
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// A Mandate lets the provider record the next events of the current revision without the function, by the rules of the function.
type Mandate struct {
	// Rules is the version of the rules by which the function decides. A provider with rules of another version does nothing by the mandate.
	// +required
	// +kubebuilder:validation:Minimum=1
	Rules int32 `json:"rules"`

	// Ledger that the mandate is for. For any other ledger it is void.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Ledger string `json:"ledger"`

	// Epoch of the ledger that the mandate is for. For any other epoch it is void.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4503599627370496
	Epoch int64 `json:"epoch"`

	// Revision that the mandate is for. For any other current revision it is void, but for one by which a user rolls this revision back.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4503599627370496
	Revision int64 `json:"revision"`

	// May lists the kinds of events that may be recorded, such as Reject and RollBack. A provider leaves out the kinds that it does not know.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +listType=set
	May []step.Kind `json:"may"`

	// Rollback is the policy by which a rejected revision is rolled back.
	// +required
	Rollback MandatedRollback `json:"rollback"`

	// Suspended holds back events that begin a step, and no rollback. Default: false.
	// +optional
	Suspended bool `json:"suspended,omitempty"`

	// Drain is the time that the pods of a track stay after it lost its requests, from 1s to 10m. Absent for a deployment without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="must be a duration from 1s to 10m, such as 30s"
	Drain string `json:"drain,omitempty"`

	// Without lists the Sites of the revision that the deployment is not for any more: nothing is restored there. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Without []string `json:"without,omitempty"`

	// MatchLabels that a Site must have, as the spec selects Sites. A Site without them gets no later tree. Absent for a spec that names its Sites.
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// Spec is the digest of the claim's spec that the mandate follows from, as in status.intentDigest of the claim.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Spec string `json:"spec"`
}

// MandatedRollback is the rollback policy of a claim as its spec has it.
type MandatedRollback struct {
	// AutoRollback rolls a rejected revision back without a request of a user. False means only on request.
	// +required
	AutoRollback bool `json:"autoRollback"`

	// MaxRetries is the number of attempts of a rollback, from 0 to 10. 0 means no rollback.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	MaxRetries int32 `json:"maxRetries"`

	// MaxPerHour holds back a rollback without a request of a user, if so many other revisions were rejected in the hour before, from 0 to 9. 0 means
	// no limit.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	MaxPerHour int32 `json:"maxPerHour"`

	// AttemptTimeout is the timeout for one attempt, from 1s to 24h.
	// +required
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h, such as 5m"
	AttemptTimeout string `json:"attemptTimeout"`
}

// MandateHold is why the provider begins no step and verifies nothing by a mandate, although the evidence is there.
//
// +kubebuilder:validation:Enum=ClaimChanged;ClaimDeleted;ClaimPaused;ClaimUnread;FilesMissing
type MandateHold string

// Holds of a mandate.
const (
	// HoldClaimChanged means that the claim has another spec than the mandate follows from.
	HoldClaimChanged MandateHold = "ClaimChanged"

	// HoldClaimDeleted means that the composite or its claim is gone, or is being deleted.
	HoldClaimDeleted MandateHold = "ClaimDeleted"

	// HoldClaimPaused means that the composite or its claim has the annotation crossplane.io/paused.
	HoldClaimPaused MandateHold = "ClaimPaused"

	// HoldClaimUnread means that the API server has not answered with the claim.
	HoldClaimUnread MandateHold = "ClaimUnread"

	// HoldFilesMissing means that neither the spec nor the repository has the files of a directory for the next step.
	HoldFilesMissing MandateHold = "FilesMissing"
)

// MandateStatus names the events that the provider may record by the mandate of the spec. The function leaves these kinds of events to the provider.
type MandateStatus struct {
	// Rules is the version of the rules that the mandate names.
	// +required
	Rules int32 `json:"rules"`

	// Revision is the current revision of the ledger, which the mandate covers.
	// +required
	Revision int64 `json:"revision"`

	// May lists the kinds of events of the mandate that the provider knows, and records on top of the ledger in this status.
	// +required
	// +kubebuilder:validation:MaxItems=8
	// +listType=set
	May []step.Kind `json:"may"`

	// Hold is why the provider begins no step and verifies nothing, although the evidence is there: may lists none of these kinds then. Absent means that
	// nothing is held back.
	// +optional
	Hold MandateHold `json:"hold,omitempty"`
}

// FollowStatus says which attempt to roll back a repository is brought to by the mandate of the home, before the spec asks for it.
type FollowStatus struct {
	// Position of the ledger in the home repository.
	// +required
	Position ledger.Position `json:"position"`

	// AttemptTimeout is how long the attempt may take, as the mandate of the home says.
	// +required
	// +kubebuilder:validation:MaxLength=32
	AttemptTimeout string `json:"attemptTimeout"`
}

// Covers reports whether the mandate is for the current revision of a ledger, or for the revision that a user rolls back by it.
func (m *Mandate) Covers(s ledger.State) bool {
	if m == nil || m.Revision < 1 || s.Current == nil || s.Successor != "" || s.IsClosed || m.Ledger != s.Ledger || m.Epoch != s.Epoch {
		return false
	}
	return m.Revision == s.Current.Number || m.Revision == s.Withdraws
}
