package state

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checkBundle returns ErrName for a bundle whose packages have invalid names, or equal ones.
func checkBundle(b Bundle) error {
	names := map[string]bool{}
	for _, p := range b.Packages {
		if wrong := validation.IsDNS1123Subdomain(p.Name); len(wrong) > 0 {
			return fmt.Errorf("%w: package %q of bundle %q: %s", ErrName, p.Name, b.Name, wrong[0])
		}
		if names[p.Name] {
			return fmt.Errorf("%w: bundle %q has package %q twice: give one of them another name", ErrName, b.Name, p.Name)
		}
		names[p.Name] = true
	}
	return nil
}

// mergeBundle updates a record to the requested packages of the bundle:
//
//   - a new or previously unreferenced package becomes NotDeployed,
//   - a package that left the bundle becomes Unreferenced. If it was never deployed, or was removed, it leaves the record,
//   - each other package keeps its status, and gets the requested version as WantedVersion.
func mergeBundle(s *BundleState, b Bundle, status Status) {
	s.Version, s.Status = b.Version, status
	packages := make([]PkgStatus, 0, len(b.Packages))
	for _, p := range b.Packages {
		packages = append(packages, mergePackage(s.Pkg(p.Name), p))
	}
	for _, p := range s.PkgStatuses {
		if !slices.ContainsFunc(b.Packages, func(requested Package) bool { return requested.Name == p.Name }) && dereference(&p) {
			packages = append(packages, p)
		}
	}
	s.PkgStatuses = packages
}

// mergePackage returns the record of a requested package.
func mergePackage(recorded *PkgStatus, requested Package) PkgStatus {
	p := PkgStatus{Name: requested.Name, Status: NotDeployed}
	if recorded != nil {
		p = *recorded
	}
	if p.Status == Unreferenced {
		p.Status, p.Present, p.Message = NotDeployed, true, ""
	}
	p.WantedVersion = ""
	if requested.Version != p.Version {
		p.WantedVersion = requested.Version
	}
	if requested.Kind != "" {
		p.Kind = requested.Kind
	}
	p.DependsOn = slices.Clone(requested.DependsOn)
	return p
}

// dereference changes the record of a package that left the bundle, and reports whether it stays.
func dereference(p *PkgStatus) bool {
	switch p.Status {
	case Removed:
		return false
	case NotDeployed:
		if !p.Present {
			return false
		}
	case Removing, Unreferenced:
		return true
	case Success, Failed, Deploying, FailedRemove:
	}
	p.Status, p.Present, p.Message, p.WantedVersion = Unreferenced, false, "", ""
	return true
}

// applyStatus changes the status of a package with the dependent fields, and applies the changes of the caller. A caller that knows the deployed
// version sets Version, since another version may be requested meanwhile.
func applyStatus(p *PkgStatus, status Status, writer string, changes []func(*PkgStatus)) {
	name, previous, wanted := p.Name, p.Status, p.WantedVersion
	if previous != status {
		p.Message, p.Present = "", false
	}
	switch status {
	case Success:
		if previous == Deploying && wanted != "" {
			p.Version = wanted
		}
	case Removed:
		if wanted == "" {
			wanted = p.Version
		}
		p.Version, p.Revision, p.Commit, p.Digest = "", 0, "", ""
	case Deploying, Removing:
		p.Writer = writer
	case Failed, NotDeployed, FailedRemove, Unreferenced:
	}
	for _, change := range changes {
		change(p)
	}
	p.Name, p.Status, p.WantedVersion = name, status, wanted
	if p.WantedVersion == p.Version {
		p.WantedVersion = ""
	}
}
