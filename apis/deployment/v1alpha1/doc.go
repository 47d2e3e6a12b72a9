// Package v1alpha1 contains the IntentDeployment: one intent, delivered to its sites. Crossplane makes its two CRDs, the claim
// in claims.intentplane.dev and the namespaced composite in intentplane.dev, from the definitions that are generated from the
// types in this package.
//
// +kubebuilder:object:generate=true
// +groupName=intentplane.dev
// +versionName=v1alpha1
package v1alpha1

// Groups of the two shapes of an IntentDeployment, and their kinds.
const (
	// GroupNamespaced is the API group of the namespaced composite.
	GroupNamespaced = "intentplane.dev"

	// GroupClaims is the API group of the claim and its cluster-scoped composite.
	GroupClaims = "claims.intentplane.dev"

	// Version is the API version of both.
	Version = "v1alpha1"

	// Kind of the claim and of the namespaced composite.
	Kind = "IntentDeployment"

	// KindComposite is the kind of the composite behind a claim.
	KindComposite = "XIntentDeployment"
)

// Policies by which an update is taken.
const (
	// UpdateAutomatic applies an update without an approval.
	UpdateAutomatic = "Automatic"

	// UpdateManual defers an update until a user approves it.
	UpdateManual = "Manual"
)
