package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TreeAction is the action of a delivery on one directory.
type TreeAction string

// Actions on a directory.
const (
	// ActionDesired writes the files that the tree carries.
	ActionDesired TreeAction = "Desired"

	// ActionRestore restores a tree that the history names, from the copy in the repository. It carries no files.
	ActionRestore TreeAction = "Restore"

	// ActionKeep leaves the directory as it is.
	ActionKeep TreeAction = "Keep"
)

// EncodingGzipTar is a tar archive, compressed with gzip, encoded with base64.
const EncodingGzipTar = "gzip+tar"

// Tree is one directory of a repository. Its key is (branch, path).
//
// No rule here may look at the whole of it: CEL reads a field of format byte as URL-safe base64, and finds ours wrong.
type Tree struct {
	// Site that the directory is for.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site"`

	// Branch that the directory is on.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Branch string `json:"branch"`

	// Path of the directory from the repository's root: <pathPrefix>/<Site path>/<namespace>/<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=700
	Path string `json:"path"`

	// Layout of the directory.
	// +optional
	// +kubebuilder:default=Kustomization
	// +kubebuilder:validation:Enum=Kustomization;Manifests
	Layout catalogv1alpha1.Layout `json:"layout,omitempty"`

	// Action to take.
	// +required
	// +kubebuilder:validation:Enum=Desired;Restore;Keep
	Action TreeAction `json:"action"`

	// Tree is the git tree id (SHA-1, 40 hexadecimal digits) of the directory's files without the marker. Empty with Keep
	// when it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[0-9a-f]{40}$')",message="must be a git tree id"
	Tree string `json:"tree,omitempty"`

	// After is the tree of the directory that the repository reported when this tree was requested. At a position that the repository has recorded
	// already, this tree replaces no other tree: otherwise an object that was restored from a backup would restore a tree that the same position has
	// replaced. Empty for a directory without a reported tree, and for a directory without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	After string `json:"after,omitempty"`

	// Encoding of files.
	// +optional
	// +kubebuilder:default="gzip+tar"
	// +kubebuilder:validation:Enum="gzip+tar"
	Encoding string `json:"encoding,omitempty"`

	// Files of the directory, encoded as Encoding says. Required with action Desired. With action Keep they are not delivered: the object holds them for
	// later. Not valid with action Restore.
	// +optional
	// +kubebuilder:validation:MaxLength=1000000
	Files []byte `json:"files,omitempty"`

	// Parts are folders of the directory beside the files: the tracks whose files the object does not carry. The repository has them already, and the
	// tree of the directory includes them. Valid with action Desired.
	// +optional
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=path
	Parts []TreePart `json:"parts,omitempty"`

	// Tracks of the directory, and the share of the requests that its routes give to each of them. Absent for a directory without tracks, and with action
	// Keep.
	// +optional
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	Tracks []TreeTrack `json:"tracks,omitempty"`
}

// LaterTree is the tree of a directory in a later step of the plan. The object carries its files from the start of the revision, so that the content of all
// waves is decided at once, and the provider can go through them without the function.
type LaterTree struct {
	Tree `json:",inline"`

	// Revision of the deployment that the tree belongs to. Another revision never delivers it.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`

	// Request is the digest of the request that the revision delivers. After a loss of the ledger another revision may get the number of a lost
	// revision, and does not deliver the tree. Absent, as by an earlier version of the function, means that the function brings the tree when its step
	// comes.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Request string `json:"request,omitempty"`

	// Step of the plan, counted from 0, from which on the directory gets the tree. Before, the directory has the tree of trees, or stays as it is. Step 0 of a
	// canary comes once an earlier one has lost its requests.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=19
	Step int32 `json:"step"`
}

// TreePart is a folder of a directory that the repository has already.
type TreePart struct {
	// Path of the folder in the directory, which is the name of its track.
	// +required
	// +kubebuilder:validation:Enum=blue;green;plain
	Path string `json:"path"`

	// Tree is the git tree id (SHA-1, 40 hexadecimal digits) of the folder. The repository has it in the directory, or in a tree of an earlier revision;
	// if the repository no longer has it, the delivery has reason TreeGone.
	// +required
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9a-f]{40}$')",message="must be a git tree id"
	Tree string `json:"tree"`

	// Revision that the folder belongs to.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`
}

// TreeTrack is a track of a directory.
type TreeTrack struct {
	// Name of the track.
	// +required
	// +kubebuilder:validation:Enum=blue;green;plain
	Name string `json:"name"`

	// Revision that the folder of the track belongs to.
	// +required
	// +kubebuilder:validation:Minimum=1
	Revision int64 `json:"revision"`

	// Weight is the share of the requests that the routes of the directory give to the track, in percent.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight"`
}

// DriftPolicy is the action of the provider after an unmanaged commit changed our directory.
type DriftPolicy string

// Policies for drift.
const (
	// DriftRestore writes the delivered files again.
	DriftRestore DriftPolicy = "Restore"

	// DriftReport only reports the drift.
	DriftReport DriftPolicy = "Report"
)

// LedgerUpdate asks the home repository of a deployment to record events.
type LedgerUpdate struct {
	// After is the head of the ledger on top of which the events are recorded: the head that their writer observed. If the repository has
	// another head, the provider writes nothing and reports OrderBehind. All zero means that the repository has no ledger.
	// +required
	After ledger.Head `json:"after"`

	// Events to record, in order. The same events on top of the same head are recorded once. Absent means no events.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	// +listType=atomic
	Events []ledger.Event `json:"events,omitempty"`
}

// GitDeliveryParameters is the desired state of a repository.
//
// +kubebuilder:validation:XValidation:rule="has(self.ledger) != has(self.copy)",message="ledger goes to the home repository and copy to all others: exactly one of them must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.mandate) || has(self.ledger)",message="mandate goes with ledger: only the delivery to the home repository has one"
type GitDeliveryParameters struct {
	// ClaimRef names the claim that is delivered.
	// +required
	ClaimRef rolloutv1alpha1.ClaimReference `json:"claimRef"`

	// Ledger has the events to record in the ledger of the deployment. Only the delivery to its home repository has it.
	// +optional
	Ledger *LedgerUpdate `json:"ledger,omitempty"`

	// Mandate lets the provider record further events in the ledger without the function. Absent means that it records only the events of ledger.
	// +optional
	Mandate *Mandate `json:"mandate,omitempty"`

	// Copy is the state of the ledger in the home repository. Every delivery to another repository has it, and stores it there, so that a lost
	// ledger can be recovered.
	// +optional
	Copy *ledger.State `json:"copy,omitempty"`

	// Position of the deployment that the trees belong to. In the home it is the position after the events of the ledger; in another repository, a
	// position that is lower than the recorded position is refused with reason OrderBehind. Absent in the home means the position of the ledger.
	// Absent in another repository means that the provider only reads that repository: the revision has not reached any of its Sites.
	// +optional
	Position *ledger.Position `json:"position,omitempty"`

	// Settled allows the removal of directories of the claim that the trees do not name. Default: false, which keeps them.
	// +optional
	Settled bool `json:"settled,omitempty"`

	// Trees to deliver. Directories of the claim that they do not name are removed once settled is set.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=branch
	// +listMapKey=path
	Trees []Tree `json:"trees,omitempty"`

	// Later are the trees of directories whose step of the plan has not come. Absent for a directory that has no later step, whose cluster is not ready, or whose
	// files do not fit into the object beside the present trees: the function brings its tree when its step comes. Default: none.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=map
	// +listMapKey=branch
	// +listMapKey=path
	Later []LaterTree `json:"later,omitempty"`

	// Adopt lets the delivery overwrite a directory with files that it did not write.
	// +optional
	// +kubebuilder:default=false
	Adopt *bool `json:"adopt,omitempty"`

	// DriftPolicy is the action after an unmanaged commit changed the claim's directory: Restore (default) or Report.
	// +optional
	// +kubebuilder:default=Restore
	// +kubebuilder:validation:Enum=Restore;Report
	DriftPolicy DriftPolicy `json:"driftPolicy,omitempty"`

	// DeliveryTimeout is the time for bringing the repository to the desired trees, from 1s to 24h. Default: 10m. After it the provider reports the
	// timeout and continues to retry.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be a duration from 1s to 24h, such as 10m"
	DeliveryTimeout string `json:"deliveryTimeout,omitempty"`
}

// GitDeliverySpec is the desired state of a repository, and the reference to its configuration.
type GitDeliverySpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is the desired state of the repository.
	// +required
	ForProvider GitDeliveryParameters `json:"forProvider"`
}

// GitDeliveryStatus is the observed state in Git.
type GitDeliveryStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state in Git.
	// +optional
	AtProvider GitDeliveryObservation `json:"atProvider,omitempty"`
}

// A GitDelivery brings the trees of one claim to one repository.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="CLAIM",type="string",JSONPath=".spec.forProvider.claimRef.name"
// +kubebuilder:printcolumn:name="REVISION",type="integer",JSONPath=".spec.forProvider.position.revision"
// +kubebuilder:printcolumn:name="COMMIT",type="string",JSONPath=".status.atProvider.remote.commit"
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",priority=1,JSONPath=".spec.providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",priority=1,JSONPath=".spec.providerConfigRef.name"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type GitDelivery struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the delivery.
	// +required
	Spec GitDeliverySpec `json:"spec"`

	// Status of the delivery.
	// +optional
	Status GitDeliveryStatus `json:"status,omitempty"`
}

// GitDeliveryList contains a list of GitDeliveries.
//
// +kubebuilder:object:root=true
type GitDeliveryList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitDelivery `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&GitDelivery{}, &GitDeliveryList{})
}
