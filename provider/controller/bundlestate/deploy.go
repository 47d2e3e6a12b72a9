package bundlestate

import (
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// deployPackage brings a package to its desired spec, once all of its dependencies are there.
func (d *decider) deployPackage(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	o := d.objects[packageObjectKey(p)]
	switch {
	case d.missingKinds[p.Kind]:
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonKindMissing, "kind %s of %s is not installed", p.Kind, p.Group)
	case d.hasOtherKind(p):
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonNameTaken,
			"this Bundle made an object of that name and of another kind: give the package another name, or remove that object first")
	case o == nil:
		d.createPackage(p, out)
	case o.isDeleting:
		setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonAwaitingDeletion, "%s %s is being deleted, and is made again once it is gone", p.Kind, p.Name)
	default:
		d.deployObject(p, o, out)
	}
}

// hasOtherKind reports whether this bundle made an object of a package's name and of another kind, which is still there.
func (d *decider) hasOtherKind(p *v1alpha1.BundlePackage) bool {
	for key, o := range d.objects {
		if key.name == p.Name && key.kind != p.Kind && d.isOwnedByBundle(o) {
			return true
		}
	}
	return false
}

// createPackage creates the object of a package, unless the package has to wait.
func (d *decider) createPackage(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	setPackageStatusf(out, v1alpha1.StatusNotDeployed, "", "")
	out.Version = ""
	if d.isPackageWaiting(p, out) {
		return
	}
	d.addAction(action{verb: verbCreate, pkg: p, owner: d.bundle})
	d.reportBegun(p, out)
}

// isPackageWaiting reports whether a package may not be changed now, and sets the reason.
func (d *decider) isPackageWaiting(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) bool {
	if d.isSuspended() {
		out.Reason, out.Message = v1alpha1.PackageReasonSuspended, "the Bundle is suspended"
		return true
	}
	for _, name := range p.DependsOn {
		if !isPackageDeployed(d.decided[name]) {
			out.Reason, out.Message = v1alpha1.PackageReasonAwaitingDependency, "it waits for package "+name
			return true
		}
	}
	return false
}

// reportBegun reports that a package is being created or changed. A package that the API server refused stays refused until the API server accepts
// it.
func (d *decider) reportBegun(p *v1alpha1.BundlePackage, out *v1alpha1.PackageObservation) {
	if previous := d.was[p.Name]; previous.Reason == v1alpha1.PackageReasonRefused && previous.Digest == p.Digest {
		setPackageStatusf(out, previous.Status, previous.Reason, "%s", previous.Message)
		return
	}
	setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "it goes out")
}

// deployObject changes an existing object, if it is this bundle's, or uses another bundle's object with the same spec.
func (d *decider) deployObject(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	switch rival := d.findRivalBundle(p, o); {
	case rival != nil && rival.digest == p.Digest:
		d.judgeObject(p, o, out) // The other bundle changes it.
		out.UID = ""
	case rival != nil:
		out.UID = ""
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonConflict, "bundle %s has this package with another spec: give both the same one, or one of them another name", rival.bundle.Name)
	case o.label != o.live.GetName() && !isAdoptable(p, o):
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonNameTaken,
			"%s %s exists, and no bundle made it: delete it, or give the package another name; adopt: true takes it over if its spec is equal", p.Kind, p.Name)
	case o.digest != p.Digest && !d.matchesRecord(o):
		setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonNameTaken,
			"%s %s has another spec, and this Bundle neither made it nor took it over, or its status lost that: delete it, or give the package its spec first", p.Kind, p.Name)
	case o.digest != p.Digest:
		d.updateObject(p, o, out)
	default:
		d.planOwnerLabels(o)
		d.judgeObject(p, o, out)
		out.UID = string(o.live.GetUID())
	}
}

// findRivalBundle returns the other bundle that an object belongs to, or nil: the bundle in its labels, as long as that deploys the package, and
// else the oldest bundle that deploys it.
func (d *decider) findRivalBundle(p *v1alpha1.BundlePackage, o *object) *neighbour {
	if o.label != o.live.GetName() || o.owner == d.bundle {
		return nil
	}
	users := d.usages[packageObjectKey(p)]
	switch {
	case users.owner != nil:
		return users.owner
	case users.deployer != nil && users.deployer.compareAges(d.age) < 0:
		return users.deployer
	}
	return nil
}

// isAdoptable reports whether an object that another user made may become the object of a package.
func isAdoptable(p *v1alpha1.BundlePackage, o *object) bool {
	return p.Adopt && !o.isControlled && o.owner.Name == "" && o.digest == p.Digest
}

// updateObject changes the spec of an object, unless the package has to wait. Until then the object keeps its spec.
func (d *decider) updateObject(p *v1alpha1.BundlePackage, o *object, out *v1alpha1.PackageObservation) {
	waits := v1alpha1.PackageObservation{}
	if d.isPackageWaiting(p, &waits) {
		d.retainStatusf(p, out, waits.Reason, "%s", waits.Message)
		d.planOwnerLabels(o)
		return
	}
	d.addAction(action{verb: verbUpdate, pkg: p, object: o, owner: d.bundle})
	out.Revision, out.Commit = o.evidence.Revision, o.evidence.Commit
	d.reportBegun(p, out)
}

// planOwnerLabels gives an object the labels of this bundle, if it does not have them.
func (d *decider) planOwnerLabels(o *object) {
	if d.isSuspended() || d.isOwnedByBundle(o) && o.unreferencedSince == "" {
		return
	}
	d.addAction(action{verb: verbLabel, object: o, owner: d.bundle})
}
