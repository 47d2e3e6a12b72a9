package state

import (
	"fmt"
	"slices"
	"strings"
)

// A Status of a bundle or of a package.
type Status string

// Statuses. Only packages have Removed, FailedRemove and Unreferenced.
const (
	// Success means that the package, or each package of the bundle, is deployed.
	Success Status = "success"

	// Failed means that the package, or a package of the bundle, could not be deployed.
	Failed Status = "failed"

	// Deploying means that a deployment began and has no result yet.
	Deploying Status = "deploying"

	// NotDeployed means that the package is in the bundle, and was not deployed since.
	NotDeployed Status = "not_deployed"

	// Removing means that a removal began and has no result yet.
	Removing Status = "removing"

	// Removed means that the package is in the bundle, and was removed from the cluster.
	Removed Status = "removed"

	// FailedRemove means that the package could not be removed.
	FailedRemove Status = "failed_remove"

	// Unreferenced means that the package left the bundle, and is still in the cluster.
	Unreferenced Status = "unreferenced"
)

// legacyUnreferenced is the spelling of Unreferenced in the first design of uds-cli. It is read, and not written.
const legacyUnreferenced Status = "Unreferenced"

// Statuses returns all statuses.
func Statuses() []Status {
	return []Status{NotDeployed, Deploying, Success, Failed, Removing, Removed, FailedRemove, Unreferenced}
}

// Next returns the statuses that a package may have after this one. It is the table of legal changes for every write except InitBundleState, which
// compares the record with the bundle.
func (s Status) Next() []Status {
	return map[Status][]Status{
		NotDeployed:  {Deploying},
		Deploying:    {Success, Failed},
		Success:      {Deploying, Removing, Unreferenced},
		Failed:       {Deploying, Removing, Unreferenced},
		Unreferenced: {Deploying, Removing},
		Removing:     {Removed, FailedRemove},
		FailedRemove: {Removing, Deploying},
		Removed:      {Deploying},
	}[s]
}

// CanBecome reports whether a package may change to another status. The same status may always be set again.
func (s Status) CanBecome(next Status) bool { return s == next || slices.Contains(s.Next(), next) }

// isBundleStatus reports whether a bundle can have this status.
func (s Status) isBundleStatus() bool {
	return slices.Contains([]Status{Success, Failed, Deploying, NotDeployed, Removing}, s)
}

// isInProgress reports whether a result has to follow the status.
func (s Status) isInProgress() bool { return s == Deploying || s == Removing }

// isDroppable reports whether a record may drop a package with this status: the package is not deployed, or left the bundle.
func (s Status) isDroppable() bool {
	return slices.Contains([]Status{NotDeployed, Removing, Removed, Unreferenced}, s)
}

// checkBundleStatus returns an error for a status that a bundle cannot have.
func checkBundleStatus(name string, s Status) error {
	if s.isBundleStatus() {
		return nil
	}
	return fmt.Errorf("%w: bundle %q cannot be %q: want success, failed, deploying, not_deployed or removing", ErrTransition, name, s)
}

// checkChange returns an error for an illegal change of a record: a forbidden change of a status, a package that may not be dropped, or another name.
func checkChange(previous, next *BundleState) error {
	if next.Name != previous.Name {
		return fmt.Errorf("%w: the record of bundle %q cannot become that of %q", ErrName, previous.Name, next.Name)
	}
	if err := checkBundleStatus(next.Name, next.Status); err != nil {
		return err
	}
	for _, p := range previous.PkgStatuses {
		if err := checkPackageChange(previous.Name, p.Name, p.Status, next.Pkg(p.Name)); err != nil {
			return err
		}
	}
	return nil
}

func checkPackageChange(bundle, name string, previous Status, p *PkgStatus) error {
	if p == nil && previous.isDroppable() || p != nil && previous.CanBecome(p.Status) {
		return nil
	}
	if p == nil {
		return fmt.Errorf("%w: package %q of bundle %q is %s, so it stays in the record: remove the package from the cluster first, and set %s and %s",
			ErrTransition, name, bundle, previous, Removing, Removed)
	}
	return fmt.Errorf("%w: package %q of bundle %q is %s and cannot become %q: after %s comes %s",
		ErrTransition, name, bundle, previous, p.Status, previous, joinStatuses(previous.Next()))
}

func joinStatuses(all []Status) string {
	words := make([]string, 0, len(all))
	for _, s := range all {
		words = append(words, string(s))
	}
	return strings.Join(words, " or ")
}
