package bundlestate

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/listing"
)

// maxSteps bounds how many changes of a status lead from one to another: not_deployed, deploying, success, removing, failed_remove.
const maxSteps = 5

// recordsOf returns the records of a BundleState's namespace.
func (c *connector) recordsOf(bs *v1alpha1.BundleState) *state.Client {
	readPage := func(ctx context.Context, read func(context.Context) error) (bool, error) {
		return listing.ReadPage(ctx, bs.GetNamespace(), read)
	}
	records, err := state.NewClient(c.clientset, state.Options{Namespace: bs.GetNamespace(), Writer: FieldOwner, Page: readPage, Now: c.now})
	if err != nil {
		panic(errors.Wrap(err, "the API server has a namespace that cannot be one"))
	}
	return records
}

// bundleFor returns the desired bundle of a BundleState, in the form of a record. Packages are in the order in which they are deployed.
func bundleFor(bs *v1alpha1.BundleState) state.Bundle {
	out := state.Bundle{Name: bs.GetName(), Version: bs.Spec.ForProvider.Version}
	for _, p := range sortByLayer(bs.Spec.ForProvider.Packages) {
		out.Packages = append(out.Packages, state.Package{Name: p.Name, Version: p.Version, Kind: p.Kind, DependsOn: p.DependsOn})
	}
	return out
}

// errTaken is returned for a record that another program keeps.
var errTaken = errors.New("another program keeps the record")

// isTaken reports whether another program wrote a record last.
func isTaken(s *state.BundleState) bool { return s.Writer != "" && s.Writer != FieldOwner }

// readRecord returns the record of a bundle, or errTaken for a record of another program.
func (c *connector) readRecord(ctx context.Context, bs *v1alpha1.BundleState) (*state.BundleState, error) {
	s, err := c.recordsOf(bs).GetBundleState(ctx, bs.GetName())
	if err == nil && isTaken(s) {
		return nil, errors.Errorf("%w: %.64q wrote Secret %s last: give one of both bundles another name, and delete the Secret", errTaken, s.Writer, state.Prefix+bs.GetName())
	}
	return s, err
}

// isRecorded reports whether a record matches a decision. It returns why the record cannot be read.
func (c *connector) isRecorded(ctx context.Context, bs *v1alpha1.BundleState, d *decision) (bool, error) {
	s, err := c.readRecord(ctx, bs)
	if errors.Is(err, state.ErrNoState) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return s.Version == bs.Spec.ForProvider.Version && string(s.Status) == d.status && !needsWrite(s, bundleFor(bs), d.packages), nil
}

// needsWrite reports whether a record has to change for the observed packages.
func needsWrite(s *state.BundleState, bundle state.Bundle, packages []v1alpha1.PackageObservation) bool {
	for i, p := range bundle.Packages {
		if i >= len(s.PkgStatuses) || s.PkgStatuses[i].Name != p.Name || !slices.Equal(s.PkgStatuses[i].DependsOn, p.DependsOn) {
			return true
		}
	}
	return advanceRecord(s, bundle, packages)
}

// writeRecord brings the record up to date. A status that may not follow another one directly is reached through intermediate statuses.
func (c *connector) writeRecord(ctx context.Context, bs *v1alpha1.BundleState, d *decision) error {
	records, bundle := c.recordsOf(bs), bundleFor(bs)
	if _, err := c.readRecord(ctx, bs); errors.Is(err, errTaken) {
		return err
	}
	_, err := records.InitBundleState(ctx, bundle, state.Status(d.status))
	if errors.Is(err, state.ErrBroken) {
		if err = c.dropRecord(ctx, bs); err == nil {
			_, err = records.InitBundleState(ctx, bundle, state.Status(d.status))
		}
	}
	if err != nil {
		return err
	}
	for range maxSteps {
		changed := false
		err := records.Modify(ctx, bs.GetName(), func(s *state.BundleState) error {
			changed = advanceRecord(s, bundle, d.packages)
			return nil
		})
		if err != nil || !changed {
			return err
		}
	}
	return nil
}

// removeRecord deletes the record of a bundle without packages to remove. Its entries of packages that are gone, or that run on, hold
// nothing back.
func (c *connector) removeRecord(ctx context.Context, bs *v1alpha1.BundleState) error {
	if _, err := c.readRecord(ctx, bs); errors.Is(err, errTaken) {
		return err
	}
	err := c.recordsOf(bs).RemoveBundleState(ctx, bs.GetName())
	if errors.Is(err, state.ErrDeployed) {
		return c.dropRecord(ctx, bs)
	}
	return err
}

// dropRecord deletes a Secret with a record of this provider without reading it: its content can be computed again.
func (c *connector) dropRecord(ctx context.Context, bs *v1alpha1.BundleState) error {
	secrets := c.clientset.CoreV1().Secrets(bs.GetNamespace())
	s, err := secrets.Get(ctx, state.Prefix+bs.GetName(), metav1.GetOptions{})
	if err != nil {
		return errors.Wrap(err, "cannot get record")
	}
	if s.Type != state.SecretType {
		return errors.Errorf("Secret %s is not a record: delete it, or give the Bundle another name", s.GetName())
	}
	err = secrets.Delete(ctx, s.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID, ResourceVersion: &s.ResourceVersion}})
	return errors.Wrap(err, "cannot delete record")
}

// advanceRecord brings each package one change of its status nearer to the observation, and reports whether it changed anything.
func advanceRecord(s *state.BundleState, bundle state.Bundle, packages []v1alpha1.PackageObservation) bool {
	changed := false
	for _, p := range packages {
		changed = advancePackage(s, bundle, p) || changed
	}
	return dropGone(s, bundle, packages) || changed
}

func advancePackage(s *state.BundleState, bundle state.Bundle, p v1alpha1.PackageObservation) bool {
	recordedPackage := s.Pkg(p.Name)
	if recordedPackage == nil {
		s.PkgStatuses = append(s.PkgStatuses, state.PkgStatus{Name: p.Name, Status: state.Unreferenced})
		recordedPackage = s.Pkg(p.Name)
		describePackage(recordedPackage, bundle, p)
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
		describePackage(recordedPackage, bundle, p)
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
func describePackage(recordedPackage *state.PkgStatus, bundle state.Bundle, p v1alpha1.PackageObservation) {
	recordedPackage.Version, recordedPackage.Revision, recordedPackage.Commit, recordedPackage.Digest, recordedPackage.Kind = p.Version, p.Revision, p.Commit, p.Digest, p.Kind
	recordedPackage.WantedVersion, recordedPackage.Message, recordedPackage.Present = "", "", false
	i := slices.IndexFunc(bundle.Packages, func(a state.Package) bool { return a.Name == p.Name })
	if i >= 0 && bundle.Packages[i].Version != p.Version {
		recordedPackage.WantedVersion = bundle.Packages[i].Version
	}
	if recordedPackage.Status == state.Failed || recordedPackage.Status == state.FailedRemove {
		recordedPackage.Message = p.Message
	}
}

func isSamePackage(a, b *state.PkgStatus) bool {
	return a.Status == b.Status && a.Version == b.Version && a.WantedVersion == b.WantedVersion && a.Revision == b.Revision && a.Commit == b.Commit &&
		a.Digest == b.Digest && a.Kind == b.Kind && a.Message == b.Message && a.Present == b.Present
}

// dropGone drops packages that left the bundle and are gone from the cluster.
func dropGone(s *state.BundleState, bundle state.Bundle, packages []v1alpha1.PackageObservation) bool {
	previous := len(s.PkgStatuses)
	s.PkgStatuses = slices.DeleteFunc(slices.Clone(s.PkgStatuses), func(p state.PkgStatus) bool {
		isAsked := slices.ContainsFunc(bundle.Packages, func(a state.Package) bool { return a.Name == p.Name })
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
