package bundlestate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
)

// maxMessage bounds the message of a package, as the schema does, in characters, and maxPackages how many packages a status lists.
const (
	maxMessage  = 512
	maxPackages = 128
)

// A verb is the kind of change to an object.
type verb string

// Verbs.
const (
	verbCreate verb = "create"
	verbUpdate verb = "update"
	verbLabel  verb = "label"
	verbRemove verb = "remove"
)

// An action changes one object.
type action struct {
	verb verb

	// pkg is the desired package of an action that creates or updates.
	pkg *v1alpha1.BundlePackage

	// object as it was seen, of an action that does not create.
	object *object

	// owner that the object gets, and unreferencedSince the time that its annotation gets. Empty removes the annotation.
	owner             v1alpha1.BundleReference
	unreferencedSince string
}

// A decision is the result of the facts.
type decision struct {
	// packages are the packages of the bundle in their order, followed by packages that left it, by their names.
	packages []v1alpha1.PackageObservation

	// status of the bundle, in the words of the record.
	status string

	// actions in their order.
	actions []action

	// remains says of a bundle that is being deleted that there is still something to do.
	remains bool

	// isPruneDue is true if a prune plan of the packages that left the bundle is needed.
	isPruneDue bool

	// due is when something changes by itself. Zero is never.
	due time.Time
}

// A decider decides on one package after the other.
type decider struct {
	*facts

	decided    map[string]v1alpha1.PackageObservation
	actions    []action
	remains    bool
	isPruneDue bool
}

// decideBundle decides on all packages. It is pure: the same facts give the same decision.
func decideBundle(f *facts) decision {
	d := &decider{facts: f, decided: map[string]v1alpha1.PackageObservation{}}
	for _, p := range bundle.SortByLayer(f.spec.Packages) {
		d.decided[p.Name] = d.decidePackage(p)
	}
	out := decision{}
	for _, p := range f.spec.Packages {
		out.packages = append(out.packages, d.decided[p.Name])
	}
	for _, key := range slices.SortedFunc(maps.Keys(f.objects), compareKeys) {
		if o := f.objects[key]; f.isOwnedByBundle(o) && !f.namesObject(key) {
			out.packages = append(out.packages, d.decideUnreferenced(key, o)...)
		}
	}
	out.packages = out.packages[:min(len(out.packages), maxPackages)]
	out.actions, out.remains, out.status, out.due = d.actions, d.remains, d.statusOfBundle(), d.due
	out.isPruneDue = d.isPruneDue && out.status == v1alpha1.StatusSuccess
	return out
}

func compareKeys(a, b objectKey) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind), cmp.Compare(a.group, b.group))
}

// namesObject reports whether the spec asks for an object.
func (f *facts) namesObject(key objectKey) bool {
	for i := range f.spec.Packages {
		if p := &f.spec.Packages[i]; p.Name == key.name && packageObjectKey(p) == key {
			return true
		}
	}
	return false
}

// decidePackage decides on one package, after its dependencies.
func (d *decider) decidePackage(p *v1alpha1.BundlePackage) v1alpha1.PackageObservation {
	out := v1alpha1.PackageObservation{
		Name: p.Name, Kind: p.Kind, UID: d.was[p.Name].UID, Version: d.was[p.Name].Version, Digest: p.Digest, UsedBy: namesOfBundles(d.usages[packageObjectKey(p)].oldest),
	}
	switch {
	case p.IsExisting() && d.isDeleted:
		d.reportAbsent(p, &out)
	case p.IsExisting():
		d.observeExisting(p, &out)
	case p.Disabled || d.isDeleted:
		d.removePackage(p, &out)
	default:
		d.deployPackage(p, &out)
	}
	out.Message = oneline.Clean(out.Message, maxMessage)
	return out
}

// setPackageStatusf sets a status with its reason and a sentence.
func setPackageStatusf(out *v1alpha1.PackageObservation, status, reason, format string, args ...any) {
	out.Status, out.Reason, out.Message = status, reason, fmt.Sprintf(format, args...)
}

// retainStatusf keeps the state of a package, with a reason and a sentence.
func (d *decider) retainStatusf(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation, reason, format string, args ...any) {
	o, earlier := d.objects[packageObjectKey(p)], *p
	earlier.Version, out.Digest = d.was[p.Name].Version, o.digest
	d.judgeObject(&earlier, o, out)
	out.Reason, out.Message = reason, fmt.Sprintf(format, args...)
}

// addAction adds an action.
func (d *decider) addAction(a action) { d.actions = append(d.actions, a) }

// observeExisting reports about a package that another user deploys.
func (d *decider) observeExisting(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	o := d.objects[packageObjectKey(p)]
	out.UID = ""
	if o == nil || o.isDeleting {
		setPackageStatusf(out, v1alpha1.StatusNotDeployed, v1alpha1.PackageReasonMissing, "%s %s of %s does not exist, and this Bundle does not make it", p.Kind, p.Name, p.Group)
		return
	}
	out.Digest = o.digest
	d.judgeObject(p, o, out)
}

// judgeObject sets the status that follows from the evidence about the desired digest. A package that was deployed stays so while it is not
// ready.
func (d *decider) judgeObject(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	e, previous := o.evidence, d.was[p.Name]
	out.Revision, out.Commit, out.Ready = e.Revision, e.Commit, e.Ready
	wasDeployed := previous.Status == v1alpha1.StatusSuccess && previous.Digest == out.Digest
	switch {
	case e.Reported != out.Digest:
		out.Ready = false
		setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "%s %s has not taken up the spec yet", p.Kind, p.Name)
	case e.IsHeldBack:
		setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonSuspended, "%s %s is suspended", p.Kind, p.Name)
	case e.WasRolledBack:
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonRolledBack, "%s", e.Message)
	case e.HasFailed:
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonFailed, "%s", e.Message)
	case e.IsDone && e.Ready:
		setPackageStatusf(out, v1alpha1.StatusSuccess, "", "")
		out.Version = p.Version
	case e.IsDone && wasDeployed:
		setPackageStatusf(out, v1alpha1.StatusSuccess, v1alpha1.PackageReasonNotReady, "%s", e.Message)
	default:
		setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "%s", e.Message)
	}
}

// isSuspended reports whether the Bundle defers all changes of its packages.
func (f *facts) isSuspended() bool { return f.spec.Suspend && !f.isDeleted }

// statusOfBundle sums up the statuses of the packages that the bundle asks for.
func (d *decider) statusOfBundle() string {
	if d.isDeleted {
		return v1alpha1.StatusRemoving
	}
	failed, pending, deployed := false, false, false
	for _, p := range d.spec.Packages {
		s := d.decided[p.Name]
		failed = failed || s.HasFailed()
		pending = pending || !isPackageSettled(p.Disabled, s)
		deployed = deployed || !slices.Contains([]string{v1alpha1.StatusNotDeployed, v1alpha1.StatusRemoved}, s.Status)
	}
	switch {
	case failed:
		return v1alpha1.StatusFailed
	case !deployed:
		return v1alpha1.StatusNotDeployed
	case pending:
		return v1alpha1.StatusDeploying
	}
	return v1alpha1.StatusSuccess
}

// isPackageSettled reports whether a package has its desired state.
func isPackageSettled(disabled bool, s v1alpha1.PackageObservation) bool {
	if disabled {
		return s.Status == v1alpha1.StatusNotDeployed || s.Status == v1alpha1.StatusRemoved
	}
	return isPackageDeployed(s) || s.Status == v1alpha1.StatusSuccess && s.Reason == v1alpha1.PackageReasonNotReady
}

// isPackageDeployed reports whether a package runs its desired spec, and is ready.
func isPackageDeployed(s v1alpha1.PackageObservation) bool {
	return s.Status == v1alpha1.StatusSuccess && s.Reason == "" && s.Ready
}

func joinWithCommas(names []string) string { return strings.Join(names, ", ") }
