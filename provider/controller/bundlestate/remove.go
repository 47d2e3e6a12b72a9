package bundlestate

import (
	"slices"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// removePackage removes a package, after its dependents. A package that another bundle uses stays.
func (d *decider) removePackage(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	o := d.objects[packageObjectKey(p)]
	if !d.isOwnedByBundle(o) {
		d.reportAbsent(p, out)
		return
	}
	next := d.nextObjectOwner(packageObjectKey(p))
	out.Revision, out.Commit, out.Ready = o.evidence.Revision, o.evidence.Commit, o.evidence.Ready
	switch {
	case o.removalProblem != "":
		d.remains = true
		setPackageStatusf(out, v1alpha1.StatusFailedRemove, v1alpha1.PackageReasonRemovalBlocked, "%s", o.removalProblem)
	case o.isDeleting:
		d.remains = true
		setPackageStatusf(out, v1alpha1.StatusRemoving, "", "")
	case d.isSuspended():
		d.retainStatusf(p, out, v1alpha1.PackageReasonSuspended, "the Bundle is suspended")
	case next != nil:
		d.remains = true
		d.handOverObject(o, next)
		d.reportAbsent(p, out)
	default:
		d.removeUnused(p, o, out)
	}
}

// removeUnused takes a package away that no other bundle deploys. A package that a bundle may depend on is never removed, and a retained
// package always has a message.
func (d *decider) removeUnused(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	switch keepers := d.retainingBundles(packageObjectKey(p)); {
	case !d.matchesRecord(o):
		d.reportAbsent(p, out)
		out.Message = "it is not enabled, and an object of its name stays, which this Bundle neither made nor took over, or its status lost that: delete it"
	case d.isDeleted && (d.spec.Orphan || len(keepers) > 0):
		d.leaveObject(o)
		d.reportAbsent(p, out)
	case len(keepers) > 0:
		setPackageStatusf(out, v1alpha1.StatusFailedRemove, v1alpha1.PackageReasonUsedByBundle, "it stays, since these bundles use it: %s", joinWithCommas(keepers))
	case d.unread[p.Name] != nil:
		d.remains = true
		setPackageStatusf(out, v1alpha1.StatusFailedRemove, v1alpha1.PackageReasonUsedByBundle, "it stays: %s", d.unread[p.Name])
	default:
		d.removeObject(p, o, out)
	}
}

// reportAbsent reports whether this bundle ever deployed a package that it does not deploy now.
func (d *decider) reportAbsent(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	previous := d.was[p.Name].Status
	out.Version, out.Digest, out.Revision, out.Commit, out.Ready = "", "", 0, "", false
	setPackageStatusf(out, v1alpha1.StatusRemoved, v1alpha1.PackageReasonDisabled, "it is not enabled")
	if previous == "" || previous == v1alpha1.StatusNotDeployed {
		out.Status = v1alpha1.StatusNotDeployed
	}
	if d.hasOtherKind(p) {
		out.Message = "it is not enabled, and an object of its name and of another kind, which this Bundle made, is still there: delete that"
		return
	}
	out.UID = ""
}

// leaveObject notes since when no bundle names an object that its Bundle leaves behind.
func (d *decider) leaveObject(o *object) {
	if o.unreferencedSince == "" {
		d.remains = true
		d.dereference(o)
	}
}

// removeObject deletes an object once no package is left that depends on it.
func (d *decider) removeObject(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	d.remains = true
	if name := d.findDependent(p.Name); name != "" {
		d.retainStatusf(p, out, v1alpha1.PackageReasonAwaitingDependents, "it is removed after package %s, which depends on it", name)
		return
	}
	d.addAction(action{verb: verbRemove, object: o})
	setPackageStatusf(out, v1alpha1.StatusRemoving, "", "")
}

// findDependent returns a package of this bundle that depends on another one and is in the cluster, or "".
func (d *decider) findDependent(name string) string {
	for _, p := range d.spec.Packages {
		if o := d.objects[packageObjectKey(&p)]; slices.Contains(p.DependsOn, name) && d.isOwnedByBundle(o) && d.matchesRecord(o) && !d.isHandedOver(&p) {
			return p.Name
		}
	}
	return ""
}

// isHandedOver reports whether another bundle gets a package that this one takes away.
func (d *decider) isHandedOver(p *v1alpha1.BundlePackage) bool {
	return (p.Disabled || d.isDeleted) && (d.nextObjectOwner(packageObjectKey(p)) != nil || d.isDeleted && len(d.retainingBundles(packageObjectKey(p))) > 0)
}
