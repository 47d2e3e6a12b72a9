// Package prune decides what may be removed because nothing owns it any more: directories in a repository whose claim is gone, and packages that
// left their bundle. It is pure: a plan follows from facts, and equal facts have equal plans. What it does not know for certain it keeps.
package prune

import (
	"time"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Scope is what a plan is about.
type Scope string

// Scopes.
const (
	// ScopeBundle is about packages that left their bundle.
	ScopeBundle Scope = "Bundle"

	// ScopeDirectories is about directories without a claim.
	ScopeDirectories Scope = "Directories"
)

// Options are what a user asks for.
type Options struct {
	// Scope of the plan.
	Scope Scope

	// Namespace of the request.
	Namespace string

	// Namespaces beside it, "*" for all. They count only in a request in the namespace of Crossplane.
	Namespaces []string

	// Bundle whose packages are meant. Zero means all of the namespaces, and what deleted bundles left.
	Bundle BundleName

	// Only these names or paths are meant. Empty means all. One that nothing has refuses the plan.
	Only []string

	// MinAge is how long ago something was changed at least. What is younger is kept.
	MinAge time.Duration

	// AllowMost lets more than half of what is ours go.
	AllowMost bool

	// AllowStateful lets volumes and what else cannot be made again go.
	AllowStateful bool
}

// A BundleName names a bundle of a namespace: two API groups may have one of the same name.
type BundleName struct{ Group, Name string }

// Facts are all that a plan follows from. They are read past caches.
type Facts struct {
	Options

	// Now is when they were read.
	Now time.Time

	// SystemNamespace is the one of Crossplane.
	SystemNamespace string

	// Unlisted are kinds that could not be listed: what they own is unknown.
	Unlisted []string

	// Repository and Directories of the scope Directories.
	Repository  Repository
	Directories []Directory

	// Living are objects that name claims or directories, of whatever kind.
	Living []Living

	// Packages, Bundles and Records of the scope Bundle.
	Packages []Package
	Bundles  []Bundle
	Records  []Record
}

// A Repository is where directories are.
type Repository struct {
	// URL and Branch of it, as it is identified.
	URL, Branch string

	// ControlPlane and ClusterUID are who writes there in this cluster, and TakeOverFrom is the UID of a lost cluster of the same name, if the
	// configuration names one.
	ControlPlane, ClusterUID, TakeOverFrom string

	// Untrusted says why the state cannot be believed. Empty means that it can.
	Untrusted string

	// Entries are what the state remembers of directories.
	Entries []Entry

	// Deliveries into it.
	Deliveries []Delivery
}

// An Entry is what the state remembers of a directory.
type Entry struct {
	// Path of the directory, and namespace and name of the claim that it was written for.
	Path, Namespace, Name string

	// Tree is the id that the directory was given, and Commit gave it, at a time.
	Tree, Commit string
	At           time.Time
}

// A Delivery is a GitDelivery.
type Delivery struct {
	Namespace, Name string

	// Reason of its Ready condition.
	Reason string
}

// A Directory is one in the tip of the branch that has a marker, or that the state remembers.
type Directory struct {
	// Site that it belongs to, if one is known, its path, and the id of its tree.
	Site, Path, Tree string

	// Marker is the content of its marker's file, or nil without one.
	Marker []byte

	// Objects in it, and whether all of its files could be read.
	Objects []Object
	Unread  bool
}

// An Object is a Kubernetes object that would go.
type Object struct {
	Kind, Name string

	// Irreversible says that the Blueprint marks it so.
	Irreversible bool
}

// A Living object names claims or directories: a claim, a composite, a GitDelivery, a SiteSync.
type Living struct {
	Kind, Namespace, Name string

	// Claim that it is, or belongs to.
	Claim rolloutv1alpha1.ClaimReference

	// Paths of the repository that it names.
	Paths []string

	// Deleting says that it is being deleted, and Pinned that its owner wants what it names to be kept.
	Deleting, Pinned bool
}

// A Package is an object that a bundle made: an IntentDeployment or an Application.
type Package struct {
	Kind, Namespace, Name, UID string

	// Bundle and Label are what its labels say: the bundle that made it, and the name of the package.
	Bundle BundleName
	Label  string

	// IsMade says that its field owner is the one that makes packages.
	IsMade bool

	// SpecDigest of what it asks for.
	SpecDigest string

	// Version of the object that was read. Only that one may be removed: a bundle that comes to use the package writes another.
	Version string

	// Reason of the Ready condition of its GitDelivery.
	Reason string

	// Since is when it left its bundle.
	Since time.Time

	// Deleting says that it is being deleted, and Pinned that a user wants it to be kept.
	Deleting, Pinned bool

	// Objects that it delivers, and whether all are known.
	Objects []Object
	Unread  bool

	// DependsOn are packages of its bundle that it was deployed after.
	DependsOn []string
}

// A Bundle is one that exists.
type Bundle struct {
	BundleName

	Namespace string

	// Packages that it names.
	Packages []string
}

// A Record is what a Secret says about a bundle.
type Record struct {
	BundleName

	Namespace string

	// IsNewer says that a newer version wrote it, and IsBroken that it cannot be read.
	IsNewer, IsBroken bool

	// Uses are the packages that it names as part of the bundle, also where another program keeps the record.
	Uses []string
}
