package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClaimReference names the claim, or the namespaced composite, that something was made for.
type ClaimReference struct {
	// APIGroup of the claim. It tells a claim from a namespaced composite of the same name.
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

	// UID of the claim. Empty when it is not known. A reference is for the same claim whatever its UID: a claim that was
	// restored from a backup goes on with what it delivered.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`
}

// Step is one step of a plan.
type Step struct {
	// Sites that this step brings the revision to.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Sites []string `json:"sites,omitempty"`

	// Weight of the traffic that goes to the revision in this step, in percent. Absent means all of it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`

	// Gate says whether the step is judged by a Gate before the next one starts.
	// +optional
	Gate *bool `json:"gate,omitempty"`

	// Pause after the step: a duration such as 10m, or Manual. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Pause string `json:"pause,omitempty"`
}

// VerdictResult says how a revision was judged.
type VerdictResult string

// Results of a verdict.
const (
	// VerdictVerified means that the revision was live and passed its gates.
	VerdictVerified VerdictResult = "Verified"

	// VerdictRejected means that the revision must not run.
	VerdictRejected VerdictResult = "Rejected"
)

// Reasons of a rejection.
const (
	// RejectedDeliveryTimedOut means that trouble with a repository lasted longer than deliveryTimeout.
	RejectedDeliveryTimedOut = "DeliveryTimedOut"

	// RejectedDeliveryRefused means that a repository, or a limit, does not let the revision in.
	RejectedDeliveryRefused = "DeliveryRefused"

	// RejectedSyncTimedOut means that a Site took longer than syncWaitTimeout to run the revision.
	RejectedSyncTimedOut = "SyncTimedOut"

	// RejectedSyncFailed means that the engine of a Site tried the revision, and failed.
	RejectedSyncFailed = "SyncFailed"

	// RejectedClusterTimedOut means that the cluster of a Site took longer than clusterWaitTimeout to become ready.
	RejectedClusterTimedOut = "ClusterTimedOut"

	// RejectedGateFailed means that a Gate did not let the revision pass.
	RejectedGateFailed = "GateFailed"

	// RejectedRequested means that a person took the revision back.
	RejectedRequested = "Requested"
)

// Verdict is how a revision was judged. It never changes.
type Verdict struct {
	// Result of the judgement.
	// +required
	// +kubebuilder:validation:Enum=Verified;Rejected
	Result VerdictResult `json:"result"`

	// Reason of a rejection: DeliveryTimedOut, DeliveryRefused, ClusterTimedOut, SyncTimedOut, SyncFailed, GateFailed or
	// Requested. Empty for a verified revision.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message says what was seen when the revision was rejected, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// MaxReason is how many characters of a RolloutRequest's reason an order repeats.
const MaxReason = 256

// RequestReference names the RolloutRequest that made an order, or changed it last, and who asked.
type RequestReference struct {
	// Name of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// By is the person who asked.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	By string `json:"by,omitempty"`

	// Reason that the person gave, as one line of at most 256 characters. Empty means that none was given.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`

	// At is when the RolloutRequest was made. One that was made no later, about the same revision, came too late.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// BlueprintReference names the Blueprint that a revision was compiled with.
type BlueprintReference struct {
	// Name of the Blueprint's object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Channel that the Blueprint was chosen by. Empty when it was chosen by its version.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Channel string `json:"channel,omitempty"`

	// Digest of the Blueprint's spec. It tells an object apart from another one that was made under its name later.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`
}

// Order is what a claim's managed resources are to carry out. It is the same in all of them, and each echoes the one that it
// has carried out.
type Order struct {
	// Epoch counts how often the ledger of the deployment was recovered after a loss, from 1. Absent or 0 for an order that no ledger holds.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Epoch int64 `json:"epoch,omitempty"`

	// Revision is the number of the try to get one request live: 1, 2, 3 … for each claim. Numbers only rise.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`

	// Request is the digest of all that decides about what is delivered.
	// +required
	// +kubebuilder:validation:MaxLength=80
	// +kubebuilder:validation:MinLength=1
	Request string `json:"request"`

	// Intent is the digest of the user's part of the request. A rejection holds until it changes.
	// +required
	// +kubebuilder:validation:MaxLength=80
	Intent string `json:"intent"`

	// DigestScheme is the version of the rules by which Request and Intent were computed.
	// +required
	// +kubebuilder:validation:Minimum=1
	DigestScheme int32 `json:"digestScheme"`

	// RendererVersion is the version of the rules by which the trees were rendered.
	// +required
	// +kubebuilder:validation:Minimum=1
	RendererVersion int32 `json:"rendererVersion"`

	// Blueprint that the trees were compiled with. Orders of earlier versions do not say it.
	// +optional
	Blueprint *BlueprintReference `json:"blueprint,omitempty"`

	// Plan is the steps in which the revision goes out.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Plan []Step `json:"plan,omitempty"`

	// Steps is the length of the plan.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Steps int32 `json:"steps"`

	// Step is the index of the step that is carried out, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	Step int32 `json:"step"`

	// Promoted is the highest step that a person released. 0 means that none was.
	// +required
	// +kubebuilder:validation:Minimum=0
	Promoted int32 `json:"promoted"`

	// Attempt is 0 going forward, and 1, 2 … going back.
	// +required
	// +kubebuilder:validation:Minimum=0
	Attempt int32 `json:"attempt"`

	// Verdict on the revision. Absent means that there is none yet.
	// +optional
	Verdict *Verdict `json:"verdict,omitempty"`

	// Target is the revision to go back to. Absent means that there is none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Target *int64 `json:"target,omitempty"`

	// Irreversible says that the revision changes what its Blueprint marks as irreversible, compared with the revision before, or may do so.
	// A person has to ask for the way back then, unless marked tells that the way back changes none of it. Absent means that it does not.
	// +optional
	Irreversible *bool `json:"irreversible,omitempty"`

	// Marked is a digest of what the revision has, at its Sites, of what its Blueprint marks as irreversible. Between two revisions that say
	// the same here none of that changes. It never changes for a revision. Empty means that the Blueprint marks nothing, or that an earlier
	// version made the order.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Marked string `json:"marked,omitempty"`

	// Withdraws is the revision that a person took back with this one, and all after the target with it. Absent means none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Withdraws *int64 `json:"withdraws,omitempty"`

	// Restored is set once, when every site that the target served was proven to run the target's tree.
	// +optional
	Restored *bool `json:"restored,omitempty"`

	// RequestRef names the RolloutRequest that made this order, or changed it last, if one did.
	// +optional
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// Behind is true when o is older than other: of a lower epoch, a lower revision, or the same one at an earlier step, attempt or promotion, or
// without what other has come to: that it withdraws a revision, its verdict, that it is restored. An order is never behind itself.
func (o Order) Behind(other Order) bool {
	switch {
	case o.Epoch != other.Epoch:
		return o.Epoch < other.Epoch
	case o.Revision != other.Revision:
		return o.Revision < other.Revision
	case o.Attempt != other.Attempt:
		return o.Attempt < other.Attempt
	case o.Step != other.Step:
		return o.Step < other.Step
	case o.Promoted != other.Promoted:
		return o.Promoted < other.Promoted
	case (o.Withdraws == nil) != (other.Withdraws == nil):
		return o.Withdraws == nil
	case (o.Verdict == nil) != (other.Verdict == nil):
		return o.Verdict == nil
	}
	return !o.restored() && other.restored()
}

func (o Order) restored() bool { return o.Restored != nil && *o.Restored }

// Rejudges is true when o and other are one revision with two verdicts. A verdict never changes within an epoch.
func (o Order) Rejudges(other Order) bool {
	return o.Epoch == other.Epoch && o.Revision == other.Revision && o.Verdict != nil && other.Verdict != nil && o.Verdict.Result != other.Verdict.Result
}

// Revives is true for an order that follows a rejected one and delivers the same intent, which nobody asked for: who ordered it did not see
// the rejection. Eased says that strangers' files may be overwritten now, so that a refusal may have lost its cause.
func (o Order) Revives(last Order, eased bool) bool {
	requested := o.RequestRef != nil && (last.RequestRef == nil || last.RequestRef.UID != o.RequestRef.UID)
	return o.Revision == last.Revision+1 && o.Intent != "" && o.Intent == last.Intent && o.Verdict == nil && last.Rejected() && !requested &&
		(!eased || last.Verdict.Reason != RejectedDeliveryRefused)
}

// TakesBack is true for a revision that a person takes back with the order: the one that it withdraws, and those between that and its target,
// which the person stepped over.
func (o Order) TakesBack(revision int64) bool {
	if o.Withdraws == nil || o.Target == nil {
		return o.Withdraws != nil && *o.Withdraws == revision
	}
	return *o.Target < revision && revision <= *o.Withdraws
}

// GoesBackTo is true for an order that is rolled back to a revision, or was. Nil is no such order.
func (o *Order) GoesBackTo(revision int64) bool {
	return o != nil && o.Rejected() && o.Target != nil && *o.Target == revision
}

// Rejected is true for an order whose revision must not run.
func (o Order) Rejected() bool { return o.Verdict != nil && o.Verdict.Result == VerdictRejected }

// Verified is true for an order whose revision was live and passed its gates.
func (o Order) Verified() bool { return o.Verdict != nil && o.Verdict.Result == VerdictVerified }

// Unjudged returns the order without what it came to: its verdict, and that it is restored. It asks for the same.
func (o Order) Unjudged() Order {
	o.Verdict, o.Restored = nil, nil
	return o
}

// Conflicts is true when o and other carry the same number for two different requests. After a loss, in the next epoch, a number may do that.
func (o Order) Conflicts(other Order) bool {
	return o.Epoch == other.Epoch && o.Revision == other.Revision && o.Request != other.Request
}

// Attempt is one try to carry out a step of a revision.
type Attempt struct {
	// Revision that was tried.
	// +required
	Revision int64 `json:"revision"`

	// Step that was tried.
	// +required
	Step int32 `json:"step"`

	// Number of the attempt: 0 going forward, 1, 2 … going back.
	// +required
	Number int32 `json:"number"`

	// StartedAt is when the attempt began. It is the date of the attempt's commit, so that a repeat makes the same commit.
	// +required
	StartedAt metav1.Time `json:"startedAt"`

	// EndedAt is when what was asked for was found in place. Absent while the attempt goes on.
	// +optional
	EndedAt *metav1.Time `json:"endedAt,omitempty"`
}
