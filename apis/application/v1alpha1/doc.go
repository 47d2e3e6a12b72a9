// Package v1alpha1 contains the Application: one service that runs at its Sites, with one phase. The phase is about the current spec, and only pods of the
// image of that spec count as available. Crossplane makes its two CRDs, the claim in claims.intentplane.dev and the namespaced composite in
// intentplane.dev, from the definitions that are generated from the types in this package.
//
// +kubebuilder:object:generate=true
// +groupName=intentplane.dev
// +versionName=v1alpha1
package v1alpha1

// Groups of the two shapes of an Application, and their kinds.
const (
	// GroupNamespaced is the API group of the namespaced composite.
	GroupNamespaced = "intentplane.dev"

	// GroupClaims is the API group of the claim and its cluster-scoped composite.
	GroupClaims = "claims.intentplane.dev"

	// Version is the API version of both.
	Version = "v1alpha1"

	// Kind of the claim and of the namespaced composite.
	Kind = "Application"

	// KindComposite is the kind of the composite behind a claim.
	KindComposite = "XApplication"
)

// Types of a service, which choose its Blueprint where the spec names none.
const (
	// ServiceTypeRouted is the type of a service with a route.
	ServiceTypeRouted = "app"

	// ServiceTypeInternal is the type of a service without one.
	ServiceTypeInternal = "app-internal"
)

// DefaultPort is the port of a service that names none.
const DefaultPort int32 = 8080
