package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// LabelPrune on an object controls the pruning of the directories that the object names, and of the object itself if it is a package that left its bundle.
// Its value PruneKeep keeps them. It keeps the directories also while the object is being deleted.
const LabelPrune = "intentplane.dev/prune"

// PruneKeep is the value of LabelPrune that keeps the directories or the package of an object.
const PruneKeep = "keep"

// Scope is the kind of items that a PruneRequest covers.
type Scope string

// Scopes.
const (
	// ScopeDirectories is about the directories of a repository that no object of the cluster names.
	ScopeDirectories Scope = "Directories"

	// ScopeBundle is about packages that left their bundle.
	ScopeBundle Scope = "Bundle"
)

// PruneRequestSpec has the scope and the options of a plan.
//
// +kubebuilder:validation:XValidation:rule="has(self.providerConfigRef) == (self.scope == 'Directories')",message="scope Directories needs providerConfigRef, and scope Bundle excludes it"
// +kubebuilder:validation:XValidation:rule="!has(self.bundle) || self.scope == 'Bundle'",message="bundle goes with scope Bundle"
type PruneRequestSpec struct {
	// Scope of the plan. Directories means the directories with a marker of this control plane that no claim, composite or delivery names. Bundle means the
	// packages that left their bundle.
	// +required
	// +kubebuilder:validation:Enum=Directories;Bundle
	Scope Scope `json:"scope"`

	// ProviderConfigRef names the configuration of the repository, with scope Directories.
	// +optional
	ProviderConfigRef *rolloutv1alpha1.ConfigReference `json:"providerConfigRef,omitempty"`

	// Bundle of the namespace whose packages are meant, with scope Bundle. Absent means the packages of all bundles, and packages that deleted bundles left.
	// +optional
	Bundle *BundleReference `json:"bundle,omitempty"`

	// Only limits the plan to the directories of these paths and of claims of these names, or to the packages of these names. Absent means all. A name
	// that no item has refuses the plan.
	// +optional
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +listType=set
	Only []string `json:"only,omitempty"`

	// MinAge is the least time since a directory was delivered, or a package left its bundle. Younger items are kept. Default: 1h. 0s means any age.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="must not be negative"
	MinAge *metav1.Duration `json:"minAge,omitempty"`

	// AllowMost allows the removal of more than half of the visible directories or packages, and of more than five. Default: false.
	// +optional
	AllowMost bool `json:"allowMost,omitempty"`

	// AllowStateful also removes directories and packages with volumes, StatefulSets, definitions, namespaces, objects that a Blueprint marks as
	// irreversible, or unreadable objects. Default: false.
	// +optional
	AllowStateful bool `json:"allowStateful,omitempty"`

	// Namespaces beside that of the request, "*" for all. They count in a request in the namespace of Crossplane alone. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=set
	Namespaces []string `json:"namespaces,omitempty"`
}

// Phase is the progress of a PruneRequest.
type Phase string

// Phases of a PruneRequest. All but PhasePlanned and PhasePruning are final.
const (
	// PhasePlanned means that status.plan can be approved.
	PhasePlanned Phase = "Planned"

	// PhaseRefused means that the provider may remove no item of the plan.
	PhaseRefused Phase = "Refused"

	// PhasePruning means that the plan was approved and is carried out.
	PhasePruning Phase = "Pruning"

	// PhaseDone means that all items of the plan are removed, or that the plan removes no item.
	PhaseDone Phase = "Done"

	// PhasePlanChanged means that the approved plan has changed. The provider removed no item.
	PhasePlanChanged Phase = "PlanChanged"

	// PhaseExpired means that no PruneApproval named the plan within an hour. The provider removed no item.
	PhaseExpired Phase = "Expired"
)

// IsFinal reports whether a phase never changes.
func (p Phase) IsFinal() bool {
	return p == PhaseRefused || p == PhaseDone || p == PhasePlanChanged || p == PhaseExpired
}

// PruneItem is one directory or package of a plan.
type PruneItem struct {
	// Kind of the item: Directory or Package.
	Kind string `json:"kind"`

	// Namespace of the package, or of the claim that the directory was written for. Absent means that it is not known.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// Name of the package, or of the claim. Absent means that it is not known.
	// +optional
	Name string `json:"name,omitempty"`

	// Site that the directory was delivered to. Absent means that it is not known.
	// +optional
	Site string `json:"site,omitempty"`

	// Path of the directory in the repository. Absent of a package.
	// +optional
	Path string `json:"path,omitempty"`

	// Tree is the Git id of the directory without its marker.
	// +optional
	Tree string `json:"tree,omitempty"`

	// Commit that delivered the directory, as the state remembers it. Absent means that the state does not have it.
	// +optional
	Commit string `json:"commit,omitempty"`

	// UID of the package. Absent of a directory.
	// +optional
	UID string `json:"uid,omitempty"`

	// Objects is the number of Kubernetes objects in the directory, or delivered by the package. In directories only items that the plan removes are
	// counted.
	// +optional
	Objects int32 `json:"objects,omitempty"`

	// Stateful objects in it, as KIND/NAME: the first 20.
	// +optional
	// +listType=atomic
	Stateful []string `json:"stateful,omitempty"`

	// Verdict: Prune or Keep.
	Verdict string `json:"verdict"`

	// Reason why the item is kept. Absent for an item that the plan removes.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message has the details of the reason.
	// +optional
	Message string `json:"message,omitempty"`
}

// PrunePlan is the list of removed and of kept items, with the reason for each kept item.
type PrunePlan struct {
	// Digest identifies the removal: names, trees, uids, repository and options. Absent for a refused plan.
	// +optional
	Digest string `json:"digest,omitempty"`

	// At is the time of the plan. It can be approved for an hour.
	At metav1.Time `json:"at"`

	// Commit of the branch that the plan was made of. Absent of packages, and where the branch does not exist.
	// +optional
	Commit string `json:"commit,omitempty"`

	// Items that the plan removes, and then kept items: at most 500, and within 1 MiB.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	Items []PruneItem `json:"items,omitempty"`

	// Pruned is the number of items that the plan removes, with unlisted items.
	Pruned int32 `json:"pruned"`

	// Kept is the number of kept items, with unlisted items.
	Kept int32 `json:"kept"`

	// More items are kept than items lists. Absent means none.
	// +optional
	More int32 `json:"more,omitempty"`
}

// PruneResult is the result of an approved plan.
type PruneResult struct {
	// Approval is the name of the accepted PruneApproval.
	Approval string `json:"approval"`

	// StartedAt is the time when the removal began, and the date of the commit.
	StartedAt metav1.Time `json:"startedAt"`

	// Commit that removed the directories. Absent until it is in the branch, and for packages.
	// +optional
	Commit string `json:"commit,omitempty"`

	// Confirmed is true for packages whose recomputed plan is unchanged, so that they are being removed.
	// +optional
	Confirmed bool `json:"confirmed,omitempty"`

	// Pruned is the number of directories or packages that were removed.
	// +optional
	Pruned int32 `json:"pruned,omitempty"`
}

// PruneRequestStatus is the plan of a request, and the result of its approval.
type PruneRequestStatus struct {
	// The conditions are Planned, Approved and Completed.
	xpv2.ConditionedStatus `json:",inline"`

	// Phase: Planned, Refused, Pruning, Done, PlanChanged or Expired. Absent until there is a plan.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// Plan that can be approved. It is made once: another request makes another plan.
	// +optional
	Plan *PrunePlan `json:"plan,omitempty"`

	// Result of the approved plan. Absent until it is approved.
	// +optional
	Result *PruneResult `json:"result,omitempty"`
}

// A PruneRequest requests a plan for the removal of directories or packages without an owner. It removes nothing itself: a PruneApproval, which names the
// plan, does. It is made once and never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=preq,categories={intentplane}
// +kubebuilder:printcolumn:name="CONFIG",type="string",JSONPath=".spec.providerConfigRef.name"
// +kubebuilder:printcolumn:name="BUNDLE",type="string",JSONPath=".spec.bundle.name"
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="PRUNED",type="integer",JSONPath=".status.plan.pruned"
// +kubebuilder:printcolumn:name="KEPT",type="integer",JSONPath=".status.plan.kept"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Completed')].reason"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="PLAN",type="string",JSONPath=".status.plan.digest",priority=1
type PruneRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the request. It never changes.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec never changes: make another PruneRequest"
	Spec PruneRequestSpec `json:"spec"`

	// Status of the request.
	// +optional
	Status PruneRequestStatus `json:"status,omitempty"`
}

// PruneRequestList contains a list of PruneRequests.
//
// +kubebuilder:object:root=true
type PruneRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PruneRequest `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&PruneRequest{}, &PruneRequestList{})
}
