package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// PackageName is the name of a package.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and '-'"
type PackageName string

// ExistingPackage names the kind of a package that another user deploys.
type ExistingPackage struct {
	// Kind of the package: IntentDeployment or Application. Default: IntentDeployment.
	// +optional
	// +kubebuilder:validation:Enum=IntentDeployment;Application
	// +kubebuilder:default=IntentDeployment
	Kind string `json:"kind,omitempty"`

	// Group of the package: intentplane.dev for a namespaced composite, or claims.intentplane.dev for a claim. Default: intentplane.dev.
	// +optional
	// +kubebuilder:validation:Enum=intentplane.dev;claims.intentplane.dev
	// +kubebuilder:default="intentplane.dev"
	Group string `json:"group,omitempty"`
}

// Package is one part of a Bundle: an IntentDeployment or an Application of its namespace.
//
// +kubebuilder:validation:XValidation:rule="[has(self.deployment), has(self.application), has(self.existing)].exists_one(set, set)",message="exactly one of deployment, application and existing must be set"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.enabled) || self.enabled",message="an existing package is never removed: leave it out instead"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || !has(self.adopt) || !self.adopt",message="an existing package is never adopted"
type Package struct {
	// Name of the package, and of its IntentDeployment or Application. The name of an Application has at most 52 characters, and begins with a
	// character of a to z.
	// +required
	Name PackageName `json:"name"`

	// Version of the package, which is recorded. Absent means the version or the channel of the Blueprint that the package names, or none.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^\\\\x00-\\\\x1f\\\\x7f]*$')",message="must have no control characters"
	Version string `json:"version,omitempty"`

	// Deployment is the spec of an IntentDeployment. It has all fields of that kind, but for crossplane, which the package keeps as it is.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Deployment *runtime.RawExtension `json:"deployment,omitempty"`

	// Application is the spec of an Application. It has all fields of that kind, but for crossplane, which the package keeps as it is.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Application *runtime.RawExtension `json:"application,omitempty"`

	// Existing is a package that another user deploys: the Bundle waits for it and records it, and never writes or removes it.
	// +optional
	Existing *ExistingPackage `json:"existing,omitempty"`

	// DependsOn are packages of the Bundle that have to run their current spec before this package is deployed. Absent means none.
	// +optional
	// +kubebuilder:validation:MaxItems=63
	// +listType=set
	DependsOn []PackageName `json:"dependsOn,omitempty"`

	// Enabled is false for a package that is not to be deployed. A deployed package is removed, after the packages that depend on it. Default: true.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// Adopt adopts an object of that name that another user created, if its spec is equal. Default: false.
	// +optional
	// +kubebuilder:default=false
	Adopt *bool `json:"adopt,omitempty"`
}

// DeletionPolicy is the action on the packages of a deleted Bundle.
type DeletionPolicy string

// Policies for the deletion of a Bundle.
const (
	// DeletionRemove removes the packages that no other bundle uses, each after its dependents.
	DeletionRemove DeletionPolicy = "Remove"

	// DeletionOrphan leaves all packages.
	DeletionOrphan DeletionPolicy = "Orphan"
)

// PrunePolicy is the action on packages that left a Bundle.
type PrunePolicy string

// Policies for packages that left a Bundle.
const (
	// PruneNever keeps them until a user requests their removal.
	PruneNever PrunePolicy = "Never"

	// PruneAfterSuccess removes them once each package of the Bundle runs its current spec.
	PruneAfterSuccess PrunePolicy = "AfterSuccess"
)

// BundleSpec is the list of packages to deploy together, with their version and order.
type BundleSpec struct {
	// Version of the Bundle, which is recorded.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^\\\\x00-\\\\x1f\\\\x7f]*$')",message="must have no control characters"
	Version string `json:"version"`

	// Packages of the Bundle, at most 64. Their specs have together at most 512 KiB. A package that leaves the list runs on, unreferenced, until prune
	// removes it.
	// +required
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Packages []Package `json:"packages"`

	// Prune is the action on packages that left the list: Never leaves them until a PruneRequest removes them, and AfterSuccess removes them once each
	// package of the Bundle runs its current spec. Packages that a PruneRequest would keep stay: packages with volumes, for example, and packages of another
	// Bundle. Default: Never.
	// +optional
	// +kubebuilder:validation:Enum=Never;AfterSuccess
	// +kubebuilder:default=Never
	Prune PrunePolicy `json:"prune,omitempty"`

	// PruneMinAge is the minimum time since a package left the list before AfterSuccess removes it, from 0s to 8760h (a year). 0s removes it at once.
	// Default: 1h.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]+([.][0-9]+)?(ms|s|m|h))+$') && duration(self) <= duration('8760h')",message="must be a duration from 0s to 8760h, such as 1h"
	PruneMinAge string `json:"pruneMinAge,omitempty"`

	// DeletionPolicy is the action on the packages after the Bundle is deleted: Remove removes the packages that no other bundle uses, and Orphan leaves
	// all. Default: Remove.
	// +optional
	// +kubebuilder:validation:Enum=Remove;Orphan
	// +kubebuilder:default=Remove
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`

	// Suspend stops all changes of packages. The packages are still observed, and recorded. Default: false.
	// +optional
	// +kubebuilder:default=false
	Suspend *bool `json:"suspend,omitempty"`
}
