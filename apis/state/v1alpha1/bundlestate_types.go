package v1alpha1

import (
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Labels of the objects of a bundle's packages. They name the bundle that created the objects, and change with the bundle of the package.
const (
	// LabelBundle holds the name of the bundle.
	LabelBundle = "state.intentplane.dev/bundle"

	// LabelBundleGroup holds the API group of the bundle: a claim and a namespaced composite may have one name.
	LabelBundleGroup = "state.intentplane.dev/bundle-group"

	// LabelPackage holds the name of the package.
	LabelPackage = "state.intentplane.dev/package"
)

// AnnotationUnreferenced on such an object has the time since which no bundle names the package, as RFC 3339.
const AnnotationUnreferenced = "state.intentplane.dev/unreferenced-since"

// BundleReference names a Bundle of the same namespace.
type BundleReference struct {
	// Group of the Bundle: that of the claim, or that of the namespaced composite.
	// +required
	// +kubebuilder:validation:Enum=intentplane.dev;claims.intentplane.dev
	Group string `json:"group"`

	// Name of the Bundle.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// BundlePackage is one package that a BundleState deploys.
type BundlePackage struct {
	// Name of the package and of its object.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Version of the package. Empty means that none is recorded.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Layer in which it is deployed, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Layer int32 `json:"layer"`

	// Group and Kind of its object.
	// +required
	// +kubebuilder:validation:Enum=intentplane.dev;claims.intentplane.dev
	Group string `json:"group"`

	// Kind of its object.
	// +required
	// +kubebuilder:validation:Enum=IntentDeployment;Application
	Kind string `json:"kind"`

	// Digest of the spec. Absent of an existing package.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// Spec of the object. Absent of an existing package, which is waited for and never written.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Spec *runtime.RawExtension `json:"spec,omitempty"`

	// DependsOn are packages that have to run their requested spec before this package is deployed.
	// +optional
	// +kubebuilder:validation:MaxItems=63
	// +listType=set
	DependsOn []string `json:"dependsOn,omitempty"`

	// Disabled is true for a package that is not deployed, or is removed. Default: false.
	// +optional
	Disabled bool `json:"disabled,omitempty"`

	// Adopt adopts an object of that name that another user created, if its spec is equal. Default: false.
	// +optional
	Adopt bool `json:"adopt,omitempty"`
}

// IsExisting reports whether another user deploys the package.
func (p *BundlePackage) IsExisting() bool { return p.Spec == nil }

// BundleStateParameters are the packages to deploy.
type BundleStateParameters struct {
	// BundleRef names the Bundle.
	// +required
	BundleRef BundleReference `json:"bundleRef"`

	// Version of the Bundle.
	// +required
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version"`

	// SpecDigest of the Bundle. The status repeats it.
	// +required
	// +kubebuilder:validation:MaxLength=80
	SpecDigest string `json:"specDigest"`

	// Packages of the Bundle.
	// +required
	// +kubebuilder:validation:MaxItems=64
	// +listType=map
	// +listMapKey=name
	Packages []BundlePackage `json:"packages"`

	// Orphan leaves the packages when the Bundle is deleted. Default: false.
	// +optional
	Orphan bool `json:"orphan,omitempty"`

	// PruneAfter is the least time between a package's leaving the Bundle and its removal, once each package runs its current spec. Absent means that it
	// stays.
	// +optional
	PruneAfter *metav1.Duration `json:"pruneAfter,omitempty"`

	// Suspend stops all changes of packages. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// PackageObservation is the observed state of one package.
type PackageObservation struct {
	// Name of the package.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// Kind of its object.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind,omitempty"`

	// UID of the object that the Bundle made, or took over with an equal spec. The Bundle changes and removes only this object, whatever labels other
	// objects have. Empty means none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// Version that is deployed. Empty means none, or that it is unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Version string `json:"version,omitempty"`

	// Status of the package, in the words of the record.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Status string `json:"status,omitempty"`

	// Digest of the spec that the status is about.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Digest string `json:"digest,omitempty"`

	// Ready reports whether the object is ready now.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// Revision that is delivered. 0 means none.
	// +optional
	Revision int64 `json:"revision,omitempty"`

	// Commit that brought the revision to the repository.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Commit string `json:"commit,omitempty"`

	// UsedBy are other bundles of the namespace that have the package, too: the first 16.
	// +optional
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	UsedBy []string `json:"usedBy,omitempty"`

	// Reason why the package does not have status success.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// Message that explains the status.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
}

// IsWaiting reports whether the package is kept as it was for now. Its status is then about an earlier spec.
func (p *PackageObservation) IsWaiting() bool {
	return slices.Contains([]string{PackageReasonAwaitingDependency, PackageReasonAwaitingDependents, PackageReasonSuspended}, p.Reason)
}

// HasFailed reports whether the package could not be deployed or removed as the current spec requests.
func (p *PackageObservation) HasFailed() bool {
	return !p.IsWaiting() && (p.Status == StatusFailed || p.Status == StatusFailedRemove)
}

// BundleRecord is the location of the record, and the error of writing it.
type BundleRecord struct {
	// Secret that holds the record.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Secret string `json:"secret,omitempty"`

	// Problem because of which the record cannot be written. Empty means that the record equals the deployed state.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Problem string `json:"problem,omitempty"`
}

// BundleStateObservation is the observed state of the packages.
type BundleStateObservation struct {
	// SpecDigest that the observation is about.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	SpecDigest string `json:"specDigest,omitempty"`

	// Status of the bundle, in the words of the record.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Status string `json:"status,omitempty"`

	// Packages of the bundle, and packages that left it: the first 128.
	// +optional
	// +kubebuilder:validation:MaxItems=128
	// +listType=map
	// +listMapKey=name
	Packages []PackageObservation `json:"packages,omitempty"`

	// Unreferenced is the number of packages that left the bundle and are still in the cluster.
	// +optional
	Unreferenced int32 `json:"unreferenced"`

	// Record of the bundle.
	// +optional
	Record BundleRecord `json:"record,omitempty"`
}

// BundleStateSpec is the packages to deploy.
type BundleStateSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// ForProvider is the packages to deploy.
	// +required
	ForProvider BundleStateParameters `json:"forProvider"`
}

// BundleStateStatus is the last observation.
type BundleStateStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// AtProvider is the observed state of the packages.
	// +optional
	AtProvider BundleStateObservation `json:"atProvider,omitempty"`
}

// A BundleState makes the packages of a Bundle, layer by layer, and keeps the record of the deployed state. It is Ready when each package runs its
// requested spec.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=bundlestates,categories={crossplane,managed,intentplane}
// +kubebuilder:printcolumn:name="BUNDLE",type="string",JSONPath=".spec.forProvider.bundleRef.name"
// +kubebuilder:printcolumn:name="VERSION",type="string",JSONPath=".spec.forProvider.version"
// +kubebuilder:printcolumn:name="STATUS",type="string",JSONPath=".status.atProvider.status"
// +kubebuilder:printcolumn:name="REASON",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
type BundleState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec has the packages to deploy.
	// +required
	Spec BundleStateSpec `json:"spec"`

	// Status has the observed state of the packages.
	// +optional
	Status BundleStateStatus `json:"status,omitempty"`
}

// BundleStateList contains a list of BundleStates.
//
// +kubebuilder:object:root=true
type BundleStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BundleState `json:"items"`
}

//nolint:gochecknoinits // Scheme registration.
func init() {
	SchemeBuilder.Register(&BundleState{}, &BundleStateList{})
}
