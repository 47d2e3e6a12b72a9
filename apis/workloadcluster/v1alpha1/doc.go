// Package v1alpha1 contains the WorkloadCluster: one cluster, with one phase. Crossplane makes its two CRDs, the claim in
// claims.intentplane.dev and the namespaced composite in intentplane.dev, from the definitions that are generated from the types in
// this package.
//
// +kubebuilder:object:generate=true
// +groupName=intentplane.dev
// +versionName=v1alpha1
package v1alpha1

// Groups of the two shapes of a WorkloadCluster, and their kinds.
const (
	// GroupNamespaced is the API group of the namespaced composite.
	GroupNamespaced = "intentplane.dev"

	// GroupClaims is the API group of the claim and its cluster-scoped composite.
	GroupClaims = "claims.intentplane.dev"

	// Version is the API version of both.
	Version = "v1alpha1"

	// Kind of the claim and of the namespaced composite.
	Kind = "WorkloadCluster"

	// KindComposite is the kind of the composite behind a claim.
	KindComposite = "XWorkloadCluster"
)

// Actions on the cluster of a deleted WorkloadCluster.
const (
	// DeletionDelete deletes the objects that the ManagedCluster made.
	DeletionDelete = "Delete"

	// DeletionOrphan leaves everything as it is.
	DeletionOrphan = "Orphan"
)
