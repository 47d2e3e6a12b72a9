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

// innerObjectKey returns the IntentDeployment of an Application.
func (k objectKey) innerObjectKey() objectKey {
	return objectKey{k.group, deploymentv1alpha1.Kind, k.name}
}

// outerObjectKey returns the Application that an IntentDeployment may go with.
func (k objectKey) outerObjectKey() objectKey {
	return objectKey{k.group, applicationv1alpha1.Kind, k.name}
}

func packageObjectKey(p *v1alpha1.BundlePackage) objectKey { return objectKey{p.Group, p.Kind, p.Name} }

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

	// usages are the other bundles of the namespace that ask for one of the objects and are not being deleted, and age compares with them.
	usages map[objectKey]usage
	age    age

	// records are the names of the records of all bundles of the namespace.
	records map[string]bool

	// recordUsers are other bundles whose records name a package to remove, by the name of that, as many as a status names.
	recordUsers map[string][]string

	// namers are the Bundles whose specs name a package to remove, by the name of the package, as many as a status names: their BundleStates may not have it yet.
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

func (a age) compareAges(b age) int {
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.name, b.name))
}

// A neighbour is another bundle of the namespace, with the digest of the spec that it asks for.
type neighbour struct {
	age

	bundle v1alpha1.BundleReference
	digest string
}

// A usage has the other bundles that name one object. A namespace may have any number of them, and a usage has only the bundles that a decision
// reads.
type usage struct {
	// oldest are the oldest bundles that deploy the object or wait for it, as many as a status names.
	oldest []neighbour

	// deployer is the oldest bundle that deploys the object, and owner the deployer that the labels of the object name. Nil if there is none.
	deployer, owner *neighbour
}

// addBundleUsage adds a bundle that asks for an object by a package, if the decision is about the object.
func (f *facts) addBundleUsage(n neighbour, p *v1alpha1.BundlePackage) {
	key := packageObjectKey(p)
	if p.Disabled || !f.concernsObject(key) {
		return
	}
	n.digest = p.Digest
	u := f.usages[key]
	i, _ := slices.BinarySearchFunc(u.oldest, n, func(a, b neighbour) int { return a.compareAges(b.age) })
	u.oldest = slices.Insert(u.oldest, i, n)
	u.oldest = u.oldest[:min(len(u.oldest), maxUsers)]
	if !p.IsExisting() {
		u.deployer = olderBundle(u.deployer, n)
	}
	if o := f.objects[key]; !p.IsExisting() && o != nil && o.owner == n.bundle {
		u.owner = olderBundle(u.owner, n)
	}
	f.usages[key] = u
}

// olderBundle returns the older of two bundles. The first may be nil.
func olderBundle(previous *neighbour, n neighbour) *neighbour {
	if previous != nil && previous.compareAges(n.age) <= 0 {
		return previous
	}
	return &n
}

// An object is the object of a package in the cluster.
type object struct {
	// live names the object and its version, without its content.
	live *unstructured.Unstructured

	// owner is the bundle that its labels name, and label the package. They are empty of an object that no bundle made.
	owner v1alpha1.BundleReference
	label string

	// isDeleting is true if it is being deleted, and removalProblem has the reason of a blocked deletion. isControlled is true if another object
	// controls it.
	isDeleting     bool
	removalProblem string
	isControlled   bool

	// unreferencedSince is the time in its annotation.
	unreferencedSince string

	// digest of its spec.
	digest string

	evidence bundle.Evidence
}

// isObjectToRemove reports whether the object of a package is this bundle's, and is to go.
func (f *facts) isObjectToRemove(p *v1alpha1.BundlePackage) bool {
	return (p.Disabled || f.isDeleted) && f.isOwnedByBundle(f.objects[packageObjectKey(p)])
}

// isOwnedByBundle reports whether the labels of an object say that this bundle made it as that package. Each editor of the object may write labels, so they decide
// about labels alone.
func (f *facts) isOwnedByBundle(o *object) bool {
	return o != nil && o.owner == f.bundle && o.label == o.live.GetName()
}

// matchesRecord reports whether the status has the UID of an object: this bundle made it, or took it over with an equal spec. It may give such an object another
// spec, and remove it. The provider may do both where a user may not.
func (f *facts) matchesRecord(o *object) bool {
	uid := string(o.live.GetUID())
	return uid != "" && f.was[o.live.GetName()].UID == uid
}

// namesToRemove returns the names of the packages whose objects are to go.
func (f *facts) namesToRemove() map[string]bool {
	out := map[string]bool{}
	for i := range f.spec.Packages {
		if p := &f.spec.Packages[i]; f.isObjectToRemove(p) {
			out[p.Name] = true
		}
	}
	return out
}

// addUserName adds the name of a bundle to the users of a package, once, unless there are as many as a status names.
func addUserName(users map[string][]string, pkg, bundle string) {
	if names := users[pkg]; len(names) < maxUsers && !slices.Contains(names, bundle) {
		users[pkg] = append(names, bundle)
	}
}

// nextObjectOwner returns the oldest other bundle that can own an object, or nil.
func (f *facts) nextObjectOwner(key objectKey) *neighbour { return f.usages[key].deployer }

// retainingBundles returns the Bundles that prevent the deletion of an object without deploying it: by a dependency on it or its inner object, by
// their spec, or by their record.
func (f *facts) retainingBundles(key objectKey) []string {
	out := slices.Concat(f.recordUsers[key.name], f.namers[key.name])
	for _, n := range slices.Concat(f.usages[key].oldest, f.usages[key.innerObjectKey()].oldest) {
		out = append(out, n.bundle.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// namesOfBundles returns the names of bundles, or nil for none.
func namesOfBundles(all []neighbour) []string {
	var out []string
	for _, n := range all {
		out = append(out, n.name)
	}
	return out
}

// maxUsers is the number of users of a package that a status names. Facts hold no more of each kind: a tenant may write any number.
const maxUsers = 16
