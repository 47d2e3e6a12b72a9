// Package prune decides the removal of unowned content: directories in a repository whose claim is gone, and packages that left their bundle.
// It is pure: a plan follows from facts, and equal facts have equal plans. In doubt it keeps an item.
package prune

import (
	"time"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A Scope is the subject of a plan.
type Scope string

// Scopes.
const (
	// ScopeBundle is about packages that left their bundle.
	ScopeBundle Scope = "Bundle"

	// ScopeDirectories is about directories without a claim.
	ScopeDirectories Scope = "Directories"
)

// Options are the options of a request.
type Options struct {
	// Scope of the plan.
	Scope Scope

	// Namespace of the request.
	Namespace string

	// Namespaces beside it, "*" for all. They count only in a request in the namespace of Crossplane.
	Namespaces []string

	// Bundle whose packages are meant. Zero means all of the namespaces, and packages of deleted bundles.
	Bundle BundleName

	// Only these names or paths are meant. Empty means all. A name or path without an item refuses the plan.
	Only []string

	// MinAge is how long ago something was changed at least. Younger items are kept.
	MinAge time.Duration

	// AllowMost allows the removal of more than half of our items.
	AllowMost bool

	// AllowStateful allows the removal of volumes and other objects with state that cannot be made again.
	AllowStateful bool
}

// A BundleName names a bundle of a namespace: two API groups may have one of the same name.
type BundleName struct{ Group, Name string }

// Facts are all that a plan follows from. They are read past caches.
type Facts struct {
	Options

	// Now is when they were read.
	Now time.Time

	// SystemNamespace is the namespace of Crossplane.
	SystemNamespace string

	// Unlisted are kinds that could not be listed: their directories are unknown.
	Unlisted []string

	// Repository and Directories of the scope Directories.
	Repository  Repository
	Directories []Directory

	// Living are objects of any kind that name claims or directories.
	Living []Living

	// Packages, Bundles and Records of the scope Bundle.
	Packages []Package
	Bundles  []Bundle
	Records  []Record

	// packageIndex of the packages, while they are judged.
	packageIndex *packageIndex
}

// A Repository is where directories are.
type Repository struct {
	// URL and Branch of it, as it is identified.
	URL, Branch string

	// ControlPlane and ClusterUID identify the writer in this cluster, and TakeOverFrom is the UID of a lost cluster of the same name, if the
	// configuration names one.
	ControlPlane, ClusterUID, TakeOverFrom string

	// Untrusted says why the state cannot be believed. Empty means that it can.
	Untrusted string

	// Entries are the directories in the state.
	Entries []Entry

	// Deliveries into it.
	Deliveries []Delivery
}

// An Entry is the record of a directory in the state.
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

	// Deleting says that it is being deleted, and Pinned that its owner wants the directories that it names to be kept.
	Deleting, Pinned bool
}

// A Package is an object that a bundle made: an IntentDeployment or an Application.
type Package struct {
	Kind, Namespace, Name, UID string

	// Bundle and Label are the values of its labels: the bundle that made it, and the name of the package.
	Bundle BundleName
	Label  string

	// IsMade is true if its field owner is the controller of packages.
	IsMade bool

	// SpecDigest of its spec.
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

// A Bundle is an existing bundle.
type Bundle struct {
	BundleName

	Namespace string

	// Packages that it names.
	Packages []string
}

// A Record is the record of a bundle in a Secret.
type Record struct {
	BundleName

	Namespace string

	// IsNewer is true if a newer version wrote it, and IsBroken that it cannot be read.
	IsNewer, IsBroken bool

	// Uses are the packages that it names as part of the bundle, also where another program keeps the record.
	Uses []string
}
