package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// Remote is the last observed state of the repository.
type Remote struct {
	// URL of the repository.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	URL string `json:"url,omitempty"`

	// Branch of the delivery.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Branch string `json:"branch,omitempty"`

	// Commit that brought the trees to the branch.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Commit string `json:"commit,omitempty"`

	// CommitTime is the date of that commit.
	// +optional
	CommitTime *metav1.Time `json:"commitTime,omitempty"`
}

// DeliveredTree is a directory as it was delivered.
type DeliveredTree struct {
	// Site that the directory is for.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site"`

	// Path of the directory from the repository's root.
	// +required
	// +kubebuilder:validation:MaxLength=700
	Path string `json:"path"`

	// Tree is the git tree id of the directory's files without the marker.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Tree string `json:"tree"`

	// Revision that wrote the directory last.
	// +required
	Revision int64 `json:"revision"`

	// Tracks of the directory. Absent for a directory without tracks.
	// +optional
	// +kubebuilder:validation:MaxItems=2
	// +listType=map
	// +listMapKey=name
	Tracks []DeliveredTrack `json:"tracks,omitempty"`
}

// DeliveredTrack is a track of a directory as it was delivered. A track that left the directory is not listed.
type DeliveredTrack struct {
	// Name of the track.
	// +required
	// +kubebuilder:validation:MaxLength=16
	Name string `json:"name"`

	// Revision that the folder of the track belongs to.
	// +required
	Revision int64 `json:"revision"`

	// Tree is the git tree id of the folder.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Tree string `json:"tree"`

	// Weight is the share of the requests that the directory gives to the track, in percent.
	// +required
	Weight int32 `json:"weight"`

	// WeighedAt is the last position that changed the directory and gave the track any requests. Absent if the track got no requests since it exists.
	// +optional
	WeighedAt *ledger.Position `json:"weighedAt,omitempty"`

	// ChangedAt is the last position at which the folder of the track changed.
	// +optional
	ChangedAt *ledger.Position `json:"changedAt,omitempty"`
}

// HistoryTree is the tree that one Site had in a revision.
type HistoryTree struct {
	// Site that the tree was for.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Site string `json:"site"`

	// Tree is the git tree id. Once a revision with tracks gets all requests, it is the id of the tree with its track alone.
	// +required
	// +kubebuilder:validation:MaxLength=40
	Tree string `json:"tree"`

	// Part is the git tree id of the folder of the revision's track at full size. Empty before the revision gets all requests, and for a revision
	// without tracks.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Part string `json:"part,omitempty"`
}

// HistoryEntry is a delivered revision. The ledger has its request and its verdict.
type HistoryEntry struct {
	// Revision of the claim.
	// +required
	Revision int64 `json:"revision"`

	// Commit that brought the revision to the branch.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	Commit string `json:"commit,omitempty"`

	// Trees of the revision. A status lists the trees of the two newest revisions that are verified and not withdrawn, and trees
	// from other revisions while the total is at most 500, possible rollback targets first: an entry may have none. The state in
	// the repository keeps them within its limits.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	Trees []HistoryTree `json:"trees,omitempty"`

	// IsTarget is true for a possible target of a rollback: at the last write of the repository, the ledger had the revision as verified and not
	// withdrawn.
	// +optional
	IsTarget bool `json:"isTarget,omitempty"`
}

// FormerBranch is a branch with delivered directories that the configuration named earlier.
type FormerBranch struct {
	// Branch that keeps the directories.
	// +required
	// +kubebuilder:validation:MaxLength=200
	Branch string `json:"branch"`

	// Paths of the claim's remaining directories on the branch, from the repository's root. The provider does not remove them.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +kubebuilder:validation:items:MaxLength=700
	// +listType=atomic
	Paths []string `json:"paths,omitempty"`
}

// LedgerRecord is the last recorded position of a deployment in one of its repositories.
type LedgerRecord struct {
	// Home is the name of the ClusterProviderConfig of the repository that holds the ledger, or ProviderConfig/ and the name of a ProviderConfig.
	// +optional
	// +kubebuilder:validation:MaxLength=268
	Home string `json:"home,omitempty"`

	// Head of the ledger that the trees in the repository follow from.
	// +required
	Head ledger.Head `json:"head"`

	// Position that the trees in the repository belong to.
	// +required
	Position ledger.Position `json:"position"`

	// Copy of the ledger, from which it can be recovered. Absent in the home repository.
	// +optional
	Copy *ledger.State `json:"copy,omitempty"`
}

// GitDeliveryObservation is the observed state in Git. It can be rebuilt from the repository.
type GitDeliveryObservation struct {
	// Ledger of the deployment, as the repository holds it. A seq of 0 means that the repository was read and holds no ledger; lastNumber is then the
	// highest revision that its commits name, if any. Absent means that the ledger is unknown.
	// +optional
	Ledger *ledger.State `json:"ledger,omitempty"`

	// Taken is the head of the ledger after the last events of a spec, where the provider recorded others after them. Absent means that
	// it is the head of the ledger: the provider recorded nothing since.
	// +optional
	Taken *ledger.Head `json:"taken,omitempty"`

	// Mandate names the events that the provider may record by the mandate of the spec. Absent means that it records no events by a mandate.
	// +optional
	Mandate *MandateStatus `json:"mandate,omitempty"`

	// Follows is the attempt of a rollback that a repository other than the home applies, after the home recorded the attempt by its mandate and before
	// the spec requests it. Absent means that the provider applies the spec.
	// +optional
	Follows *FollowStatus `json:"follows,omitempty"`

	// Record is the last position that the repository recorded, with its trees. Absent before the first delivery, or if the record is unknown.
	// +optional
	Record *LedgerRecord `json:"record,omitempty"`

	// Attempt that began last.
	// +optional
	Attempt *rolloutv1alpha1.Attempt `json:"attempt,omitempty"`

	// Waiting is the time since which the repository has not applied the position of the spec. Absent if it has.
	// +optional
	Waiting *rolloutv1alpha1.Attempt `json:"waiting,omitempty"`

	// Remote of the last write.
	// +optional
	Remote *Remote `json:"remote,omitempty"`

	// Trees in the repository: the trees that the spec names and, until a revision is verified, as many remaining trees of earlier
	// revisions as fit. The state in the repository lists all.
	// +optional
	// +kubebuilder:validation:MaxItems=500
	// +listType=atomic
	Trees []DeliveredTree `json:"trees,omitempty"`

	// FormerBranches are the last 10 branches that the configuration named before, the newest first, with the claim's remaining directories there: at
	// most 500 of all branches together, whose paths have at most 64 KiB, and fewer where the claim has more than 500 directories. A branch is forgotten
	// when the configuration names it again, or when annotation delivery.intentplane.dev/forget-branches of the GitDelivery names it. Absent without
	// such branches.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	// +listType=atomic
	FormerBranches []FormerBranch `json:"formerBranches,omitempty"`

	// History of the claim: the last 10 revisions, and always the newest revision that is verified and not withdrawn.
	// +optional
	// +kubebuilder:validation:MaxItems=11
	// +listType=atomic
	History []HistoryEntry `json:"history,omitempty"`
}
