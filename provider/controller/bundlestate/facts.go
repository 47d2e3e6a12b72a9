package bundlestate

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/prune"
)

// An objectKey identifies an object in the namespace.
type objectKey struct{ group, kind, name string }

// inner returns the IntentDeployment that goes with an Application.
func (k objectKey) inner() objectKey {
	return objectKey{k.group, deploymentv1alpha1.Kind, k.name}
}

// outer returns the Application that an IntentDeployment may go with.
func (k objectKey) outer() objectKey {
	return objectKey{k.group, applicationv1alpha1.Kind, k.name}
}

func keyOf(p *v1alpha1.BundlePackage) objectKey { return objectKey{p.Group, p.Kind, p.Name} }

// facts are all that a decision follows from. They are read past caches.
type facts struct {
	now time.Time

	// bundle that is deployed, how it should be, and whether it is being deleted.
	bundle    v1alpha1.BundleReference
	spec      v1alpha1.BundleStateParameters
	isDeleted bool

	// was holds the packages of the status, by their names.
	was map[string]v1alpha1.PackageObservation

	// objects are the objects of the packages, and other objects with the labels of the bundle. Left is the number of unrecorded ones among the latter.
	objects map[objectKey]*object
	left    int

	// missingKinds are kinds that are not installed.
	missingKinds map[string]bool

	// neighbours are the other bundles of the namespace that ask for one of the objects and are not being deleted, and age compares with them.
	neighbours []neighbour
	age        age

	// records are the names of the records of all bundles of the namespace.
	records []string

	// recordUsers are other bundles whose records name a package, by the name of that. They are read for packages to remove.
	recordUsers map[string][]string

	// namers are the Bundles whose specs name a package to remove, by the name of the package: their BundleStates may not have it yet.
	namers map[string][]string

	// plan is the prune plan of the packages that left the bundle, and removable has the UIDs of the objects that it removes now. Nil if
	// nothing is to be pruned now.
	plan      *prune.Plan
	removable map[string]bool

	// due is when something changes by itself. Zero is never.
	due time.Time

	// unread says why the users of a package are unknown, by its name: a record cannot be read, and could be the record of a user.
	unread map[string]error
}

// An age orders bundles by creation, and bundles created in the same second by name.
type age struct {
	created time.Time
	name    string
}

func (a age) compare(b age) int {
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.name, b.name))
}

// A neighbour is another bundle of the namespace.
type neighbour struct {
	age

	bundle   v1alpha1.BundleReference
	packages []v1alpha1.BundlePackage
}

// find returns the package of a neighbour that an object is to be, or nil.
func (n neighbour) find(key objectKey) *v1alpha1.BundlePackage {
	i := slices.IndexFunc(n.packages, func(p v1alpha1.BundlePackage) bool { return keyOf(&p) == key && !p.Disabled })
	if i < 0 {
		return nil
	}
	return &n.packages[i]
}

// An object is the object of a package in the cluster.
type object struct {
	// live names the object and its version, without its content.
	live *unstructured.Unstructured

	// owner is the bundle that its labels name, and label the package. They are empty of an object that no bundle made.
	owner v1alpha1.BundleReference
	label string

	// isDeleting says that it is being deleted, and removalProblem why that does not go on. isControlled says that it belongs to another object.
	isDeleting     bool
	removalProblem string
	isControlled   bool

	// unreferencedSince is the time in its annotation.
	unreferencedSince string

	// digest of its spec.
	digest string

	evidence bundle.Evidence
}

// isToRemove reports whether the object of a package is this bundle's, and is to go.
func (f *facts) isToRemove(p *v1alpha1.BundlePackage) bool {
	return (p.Disabled || f.isDeleted) && f.isOwned(f.objects[keyOf(p)])
}

// isOwned reports whether the labels of an object say that this bundle made it as that package. Each editor of the object may write labels, so they decide
// about labels alone.
func (f *facts) isOwned(o *object) bool {
	return o != nil && o.owner == f.bundle && o.label == o.live.GetName()
}

// isRecorded reports whether the status has the UID of an object: this bundle made it, or took it over with an equal spec. It may give such an object another
// spec, and remove it. The provider may do both where a user may not.
func (f *facts) isRecorded(o *object) bool {
	uid := string(o.live.GetUID())
	return uid != "" && f.was[o.live.GetName()].UID == uid
}

// users returns the other bundles that ask for an object, be it that they deploy it or wait for it, the oldest one first.
func (f *facts) users(key objectKey) []neighbour {
	out := slices.DeleteFunc(slices.Clone(f.neighbours), func(n neighbour) bool { return n.find(key) == nil })
	slices.SortFunc(out, func(a, b neighbour) int { return a.compare(b.age) })
	return out
}

// deployers returns the other bundles that deploy an object, the oldest one first.
func (f *facts) deployers(key objectKey) []neighbour {
	return slices.DeleteFunc(f.users(key), func(n neighbour) bool { return n.find(key).IsExisting() })
}

// nextOwner returns the oldest other bundle that can own an object, or nil.
func (f *facts) nextOwner(key objectKey) *neighbour {
	all := f.deployers(key)
	if len(all) == 0 {
		return nil
	}
	return &all[0]
}

// keepers returns the Bundles that prevent the deletion of an object without deploying it: by a dependency on it or its inner object, by
// their spec, or by their record.
func (f *facts) keepers(key objectKey) []string {
	out := slices.Concat(f.recordUsers[key.name], f.namers[key.name])
	for _, n := range slices.Concat(f.users(key), f.users(key.inner())) {
		out = append(out, n.bundle.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesOf returns the names of bundles, the first 16.
func namesOf(all []neighbour) []string {
	out := []string{}
	for _, n := range all[:min(len(all), maxUsers)] {
		out = append(out, n.name)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// maxUsers is how many users of a package a status names.
const maxUsers = 16
