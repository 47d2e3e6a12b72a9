package bundle

import (
	"slices"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
)

// MaxRecordSteps bounds how many changes of a status lead from one to another: not_deployed, deploying, success, removing, failed_remove.
const MaxRecordSteps = 5

// RecordOf returns the desired bundle of a BundleState, in the form of a record. Packages are in the order in which they are deployed.
func RecordOf(bs *v1alpha1.BundleState) state.Bundle {
	out := state.Bundle{Name: bs.GetName(), Version: bs.Spec.ForProvider.Version}
	for _, p := range SortByLayer(bs.Spec.ForProvider.Packages) {
		out.Packages = append(out.Packages, state.Package{Name: p.Name, Version: p.Version, Kind: p.Kind, DependsOn: p.DependsOn})
	}
	return out
}

// NeedsWrite reports whether a record has to change for the observed packages.
func NeedsWrite(s *state.BundleState, requested state.Bundle, packages []v1alpha1.PackageObservation) bool {
	for i, p := range requested.Packages {
		if i >= len(s.PkgStatuses) || s.PkgStatuses[i].Name != p.Name || !slices.Equal(s.PkgStatuses[i].DependsOn, p.DependsOn) {
			return true
		}
	}
	return AdvanceRecord(s, requested, packages)
}

// AdvanceRecord brings each package one change of its status nearer to the observation, and reports whether it changed anything.
func AdvanceRecord(s *state.BundleState, requested state.Bundle, packages []v1alpha1.PackageObservation) bool {
	changed := false
	for _, p := range packages {
		changed = advancePackage(s, requested, p) || changed
	}
	return dropGonePackages(s, requested, packages) || changed
}

func advancePackage(s *state.BundleState, requested state.Bundle, p v1alpha1.PackageObservation) bool {
	recordedPackage := s.Pkg(p.Name)
	if recordedPackage == nil {
		s.PkgStatuses = append(s.PkgStatuses, state.PkgStatus{Name: p.Name, Status: state.Unreferenced})
		recordedPackage = s.Pkg(p.Name)
		describePackage(recordedPackage, requested, p)
		return true
	}
	previous := *recordedPackage
	target := reachableStatus(recordedPackage.Status, state.Status(p.Status))
	next, ok := stepTowards(recordedPackage.Status, target)
	if !ok {
		return false // The record keeps its status: no change leads to the new one.
	}
	recordedPackage.Status = next
	if next == target {
		describePackage(recordedPackage, requested, p)
	}
	return !isSamePackage(&previous, recordedPackage)
}

// reachableStatus returns the status that a record can have after an earlier status: Removed for a package that was deployed, and is gone.
func reachableStatus(source, target state.Status) state.Status {
	if target == state.NotDeployed && source != target {
		return state.Removed
	}
	return target
}

// describePackage writes the deployed version of a package.
func describePackage(recordedPackage *state.PkgStatus, requested state.Bundle, p v1alpha1.PackageObservation) {
	recordedPackage.Version, recordedPackage.Revision, recordedPackage.Commit, recordedPackage.Digest, recordedPackage.Kind = p.Version, p.Revision, p.Commit, p.Digest, p.Kind
	recordedPackage.WantedVersion, recordedPackage.Message, recordedPackage.Present = "", "", false
	i := slices.IndexFunc(requested.Packages, func(a state.Package) bool { return a.Name == p.Name })
	if i >= 0 && requested.Packages[i].Version != p.Version {
		recordedPackage.WantedVersion = requested.Packages[i].Version
	}
	if recordedPackage.Status == state.Failed || recordedPackage.Status == state.FailedRemove {
		recordedPackage.Message = p.Message
	}
}

func isSamePackage(a, b *state.PkgStatus) bool {
	return a.Status == b.Status && a.Version == b.Version && a.WantedVersion == b.WantedVersion && a.Revision == b.Revision && a.Commit == b.Commit &&
		a.Digest == b.Digest && a.Kind == b.Kind && a.Message == b.Message && a.Present == b.Present
}

// dropGonePackages drops packages that left the bundle and are gone from the cluster.
func dropGonePackages(s *state.BundleState, requested state.Bundle, packages []v1alpha1.PackageObservation) bool {
	previous := len(s.PkgStatuses)
	s.PkgStatuses = slices.DeleteFunc(slices.Clone(s.PkgStatuses), func(p state.PkgStatus) bool {
		isAsked := slices.ContainsFunc(requested.Packages, func(a state.Package) bool { return a.Name == p.Name })
		isThere := slices.ContainsFunc(packages, func(o v1alpha1.PackageObservation) bool { return o.Name == p.Name })
		return !isAsked && !isThere && slices.Contains([]state.Status{state.Unreferenced, state.Removing, state.Removed, state.FailedRemove}, p.Status)
	})
	return len(s.PkgStatuses) != previous
}

// stepTowards returns the next status on the shortest path to another one, and false if no path leads there.
func stepTowards(source, target state.Status) (state.Status, bool) {
	if source == target {
		return target, true
	}
	first, queue := map[state.Status]state.Status{}, []state.Status{source}
	for len(queue) > 0 {
		current := queue[0]
		queue = queue[1:]
		for _, next := range current.Next() {
			if _, isVisited := first[next]; isVisited || next == source {
				continue
			}
			if first[next] = first[current]; current == source {
				first[next] = next
			}
			queue = append(queue, next)
		}
	}
	next, ok := first[target]
	return next, ok
}
