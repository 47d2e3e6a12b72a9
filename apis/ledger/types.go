// Package ledger has the decisions about one deployment, as a list of events and the state computed from them. Function, provider and tests
// share it: the function proposes events, and the provider records them in the home repository of the deployment, on top of the head that the
// function observed. The package is pure: it has no Kubernetes object, no repository and no clock. Its types are part of the API of
// GitDeliveries, so they have the bounds that an object needs.
//
// +kubebuilder:object:generate=true
package ledger

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Limits of a ledger.
const (
	// MaxNumber is the highest number of a revision, of an epoch and of an event. A double holds it and the numbers around it exactly: numbers travel to the
	// function as doubles. One in each microsecond gets there in 142 years.
	MaxNumber = 1 << 52

	// MaxSteps is the greatest number of steps of a plan.
	MaxSteps = 20

	// MaxHistory is the greatest number of past revisions in a state, beside the stable revision.
	MaxHistory = 10

	// MaxRequests is the greatest number of RolloutRequests in a state, which records them so that none takes effect twice.
	MaxRequests = 32

	// MaxSites is the greatest number of Sites in the plan of a revision, in all of its steps.
	MaxSites = 500

	// MaxTrees is the greatest number of trees in a state, summed over all past revisions. The oldest verified revisions lose their trees,
	// but never the stable revision: without a bound, an object of the API server could not hold the state.
	MaxTrees = 1000
)

// Head identifies the last event of a ledger.
type Head struct {
	// Ledger identifies the ledger by its opener and its time. Empty means that no ledger exists.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Ledger string `json:"ledger,omitempty"`

	// Epoch counts the recoveries of the ledger after a loss, from 1. 0 means that no ledger exists.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	Epoch int64 `json:"epoch"`

	// Seq counts the events of the ledger, from 1. 0 means that no ledger exists.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	Seq int64 `json:"seq"`

	// ID is a digest of the last event and of all before it. It does not depend on when they were recorded.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	ID string `json:"id,omitempty"`
}

// Compare returns a negative number if h is older than otherHead, 0 if neither is newer and a positive number if h is newer: the higher epoch
// counts, and then the higher number of events.
func (h Head) Compare(otherHead Head) int {
	return cmp.Or(cmp.Compare(h.Epoch, otherHead.Epoch), cmp.Compare(h.Seq, otherHead.Seq))
}

// Request identifies the content of a revision, as digests. Two requests that are equal render the same trees.
type Request struct {
	// Intent is the digest of the user's part. A rejection holds until it changes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=80
	Intent string `json:"intent"`

	// Sources is the digest of the inputs of the compilation beside the intent: the Blueprint, the Sites and the configuration.
	// +required
	// +kubebuilder:validation:MaxLength=80
	Sources string `json:"sources"`

	// Scheme is the version of the rules by which the digests were computed.
	// +required
	// +kubebuilder:validation:Minimum=1
	Scheme int32 `json:"scheme"`

	// Renderer is the version of the rules by which the trees were rendered.
	// +required
	// +kubebuilder:validation:Minimum=1
	Renderer int32 `json:"renderer"`
}

// Step is one step of a plan. A step without a weight, or of weight 0, begins a wave. A step of a higher weight belongs to the wave before it: it
// changes the share at each Site of the wave.
type Step struct {
	// Sites to which the step delivers the revision. Sites of earlier steps of its wave are left out, so that a plan names each Site once. A Site that a step
	// of a weight above 0 names gets the revision whole, since nothing runs there that it could share requests with.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Sites []string `json:"sites,omitempty"`

	// Weight of the requests that the revision gets in this step, in percent. 0 means that its pods start, and get no requests. Absent means all
	// requests, for a revision that replaces the previous revision at once.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`

	// Ahead is the share of the requests, in percent, that the pods of the revision are enough for in this step. It is that of the next step at
	// least, since pods come before requests. Absent means 100.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Ahead *int32 `json:"ahead,omitempty"`

	// Gate specifies whether a Gate judges the step before the next step begins.
	// +optional
	Gate bool `json:"gate,omitempty"`

	// Pause after the step: a duration such as 10m, or Manual. Empty means none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Pause string `json:"pause,omitempty"`
}

// Part is one repository that takes part in a revision, and the Sites that it delivers to.
type Part struct {
	// Delivery is the name of the GitDelivery.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Delivery string `json:"delivery"`

	// ConfigRef is the name of the ClusterProviderConfig of the repository, or ProviderConfig/ and the name of a ProviderConfig.
	// +required
	// +kubebuilder:validation:MaxLength=268
	ConfigRef string `json:"configRef"`

	// Sites that the repository delivers to.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	Sites []string `json:"sites,omitempty"`
}

// RequestReference names the RolloutRequest by which a user requested an event.
type RequestReference struct {
	// Name of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// UID of the RolloutRequest.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid"`

	// By is the user who made the request.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	By string `json:"by,omitempty"`

	// Reason that the user gave, as one line. Empty means that none was given.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// BlueprintReference names the Blueprint that a revision was compiled with.
type BlueprintReference struct {
	// Name of the Blueprint.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Channel that the Blueprint was chosen by. Empty when it was chosen by its version.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Channel string `json:"channel,omitempty"`

	// Digest of the Blueprint's spec.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`
}

// Revision is the content that a deployment delivers between two Ordered events. It never changes, except for the digests of an equivalent request.
type Revision struct {
	// Number of the revision, from 1. It is used once.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4503599627370496
	Number int64 `json:"number"`

	// Request that the revision delivers.
	// +required
	Request Request `json:"request"`

	// Blueprint that the revision was compiled with.
	// +optional
	Blueprint *BlueprintReference `json:"blueprint,omitempty"`

	// Plan is the steps in which the revision goes out: one to 20, with at most 500 Sites in all of them.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +listType=atomic
	Plan []Step `json:"plan"`

	// Parts are the repositories that take part.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	Parts []Part `json:"parts,omitempty"`

	// Marked is a digest of the kinds that the Blueprint marks as irreversible. Empty means that it marks none.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Marked string `json:"marked,omitempty"`

	// Irreversible is true if a rollback may not revert all of the revision, so that a user has to request it.
	// +optional
	Irreversible bool `json:"irreversible,omitempty"`

	// Track that the revision's workloads take. Empty for a revision without tracks; plain for a revision without tracks that follows a
	// revision with tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Track string `json:"track,omitempty"`

	// Stable is the verified revision that a revision with tracks began beside. In another track it serves the requests that the plan leaves to it; in the same
	// track it is replaced. 0 means that no such revision existed, or that the revision has no tracks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Stable int64 `json:"stable,omitempty"`

	// Workload is a digest of the inputs of the revision's pods. Empty for a revision without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Workload string `json:"workload,omitempty"`

	// RequestRef names the RolloutRequest of the revision. Absent means that an edit or an update caused it.
	// +optional
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// Result is the verdict on a revision.
type Result string

// Results of a verdict.
const (
	// VerdictVerified means that the revision was live at each of its Sites and passed its Gates.
	VerdictVerified Result = "Verified"

	// VerdictRejected means that the revision must not run.
	VerdictRejected Result = "Rejected"
)

// Reasons of rejections that decide on the next events.
const (
	// RejectedRequested is the reason of a rejection on request of a user.
	RejectedRequested = "Requested"

	// RejectedDelivery is the reason of a rejection by a repository, or by a limit. It may lose its cause once files of other users may be overwritten.
	RejectedDelivery = "DeliveryRefused"

	// RejectedFilesLost is the reason of a rejection because no object has the files any more: only the function, which renders them, detects it.
	RejectedFilesLost = "FilesLost"
)

// PauseManual is a pause that lasts until a user releases the next step.
const PauseManual = "Manual"

// Verdict is the judgement of a revision. It never changes.
type Verdict struct {
	// Result of the judgement.
	// +required
	// +kubebuilder:validation:Enum=Verified;Rejected
	Result Result `json:"result"`

	// Reason of a rejection. Empty for a verified revision.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message describes the observation that led to the rejection.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// SiteTree is the Git tree that was proven to run at a Site.
type SiteTree struct {
	// Site that runs the tree.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site"`

	// ID of the Git tree. That of a revision with tracks is the tree in which its track is alone.
	// +required
	// +kubebuilder:validation:MaxLength=40
	ID string `json:"id"`

	// Part is the ID of the folder of the revision's track at full size. By this ID the folder is put beside the folder of another revision, whose
	// function does not hold its files. Empty for a revision without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Part string `json:"part,omitempty"`
}

// Past is a revision that came to an end: it was judged, or replaced before.
type Past struct {
	// Number of the revision.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4503599627370496
	Number int64 `json:"number"`

	// Request that the revision delivered.
	// +required
	Request Request `json:"request"`

	// Verdict on the revision. Absent if it was replaced before it was judged.
	// +optional
	Verdict *Verdict `json:"verdict,omitempty"`

	// EndedAt is the time when the revision was judged or replaced.
	// +required
	EndedAt metav1.Time `json:"endedAt"`

	// Withdrawn is true if a user rolled back past the revision, which excludes it from later rollbacks.
	// +optional
	Withdrawn bool `json:"withdrawn,omitempty"`

	// Marked is a digest of the kinds that the revision's Blueprint marked as irreversible.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	Marked string `json:"marked,omitempty"`

	// Track that the revision's workloads took. Empty for a revision without tracks; plain for a revision without tracks that follows a
	// revision with tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Track string `json:"track,omitempty"`

	// Workload is a digest of the inputs of the revision's pods. Empty for a revision without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Workload string `json:"workload,omitempty"`

	// TreesDropped is true if the trees of the verified revision exceeded the limit, which excludes it from later rollbacks.
	// +optional
	TreesDropped bool `json:"treesDropped,omitempty"`

	// Trees of a verified revision, which a rollback restores, sorted by Site.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	Trees []SiteTree `json:"trees,omitempty"`
}

// IsTarget is true for a revision that a rollback may go to.
func (p Past) IsTarget() bool {
	return !p.Withdrawn && !p.TreesDropped && p.Verdict != nil && p.Verdict.Result == VerdictVerified
}

// State is the result of applying the events of a ledger. The zero value is the state of a ledger that was never opened.
type State struct {
	Head `json:",inline"`

	// Home is the name of the ClusterProviderConfig of the repository that holds the ledger, or ProviderConfig/ and the name of a ProviderConfig.
	// +optional
	// +kubebuilder:validation:MaxLength=268
	Home string `json:"home,omitempty"`

	// LastNumber is the highest number that a revision of the deployment ever had, also in a ledger that was lost. 0 means none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	LastNumber int64 `json:"lastNumber,omitempty"`

	// Current revision. Absent before the first revision.
	// +optional
	Current *Revision `json:"current,omitempty"`

	// Cursor of the current revision.
	// +required
	Cursor Cursor `json:"cursor"`

	// Verdict on the current revision. Absent means that none exists yet.
	// +optional
	Verdict *Verdict `json:"verdict,omitempty"`

	// Target is the revision that a rollback goes to. 0 means that none began.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Target int64 `json:"target,omitempty"`

	// Withdraws is the revision that a user rolled back with the current revision. 0 means none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Withdraws int64 `json:"withdraws,omitempty"`

	// Restored is true if each Site was proven to run the trees of the target.
	// +optional
	Restored bool `json:"restored,omitempty"`

	// Stable is the number of the newest revision that was verified and not withdrawn. 0 means that none exists.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Stable int64 `json:"stable,omitempty"`

	// History is the revisions that ended, the oldest first: the last 10, and the stable revision. Together they have at most 1000 trees.
	// +optional
	// +kubebuilder:validation:MaxItems=11
	// +listType=atomic
	History []Past `json:"history,omitempty"`

	// Requests are the UIDs of the last 32 RolloutRequests that took effect, the oldest first.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=64
	// +listType=atomic
	Requests []string `json:"requests,omitempty"`

	// Successor is the home that the ledger moved to. Nothing is recorded after it. Empty means that it did not move.
	// +optional
	// +kubebuilder:validation:MaxLength=268
	Successor string `json:"successor,omitempty"`

	// IsClosed is set after the deployment was deleted. Only the last number and the requests remain.
	// +optional
	IsClosed bool `json:"isClosed,omitempty"`
}

// IsRejected is true for a state whose current revision must not run.
func (s State) IsRejected() bool { return s.Verdict != nil && s.Verdict.Result == VerdictRejected }

// IsVerified is true for a state whose current revision was live and passed its Gates.
func (s State) IsVerified() bool { return s.Verdict != nil && s.Verdict.Result == VerdictVerified }

// Targets returns the revisions that a rollback may go to, the newest first.
func (s State) Targets() []Past {
	var out []Past
	for _, p := range slices.Backward(s.History) {
		if p.IsTarget() {
			out = append(out, p)
		}
	}
	return out
}

// Essentials returns the part of a state from which a lost ledger can be recovered: all but the history that no rollback needs. Followers keep a
// copy of it.
func (s State) Essentials() State {
	s.History = slices.DeleteFunc(slices.Clone(s.History), func(p Past) bool { return p.Number != s.Stable && p.Number != s.Target })
	return s
}
