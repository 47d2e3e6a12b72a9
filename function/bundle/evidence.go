package bundle

import (
	"slices"

	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// Facts are all that a status follows from.
type Facts struct {
	// Digest of the spec, and its Version.
	Digest, Version string

	// Problem because of which the spec cannot be carried out. Empty if there is none.
	Problem string

	// IsSuspended is true if nothing is changed.
	IsSuspended bool

	// Enabled is the number of enabled packages, also if the spec is invalid.
	Enabled int

	// Layers are the layers of the requested packages, by their names.
	Layers map[string]int32

	// Disabled are the names of the packages that are not to be deployed.
	Disabled []string

	// Observed is the report of the BundleState. A report about another spec proves nothing.
	Observed statev1alpha1.BundleStateObservation
}

// addPackages adds the requested packages.
func (f *Facts) addPackages(packages []statev1alpha1.BundlePackage) {
	f.Layers = map[string]int32{}
	for _, p := range packages {
		f.Layers[p.Name] = p.Layer
		if p.Disabled {
			f.Disabled = append(f.Disabled, p.Name)
		}
	}
}

// addObservation adds the report of the BundleState, if there is one.
func (f *Facts) addObservation(s *statev1alpha1.BundleState) {
	if s != nil {
		f.Observed = s.Status.AtProvider
	}
}

// isAboutCurrentSpec reports whether the report of the BundleState is about the current spec.
func (f *Facts) isAboutCurrentSpec() bool {
	return f.Problem == "" && f.Observed.SpecDigest == f.Digest
}

// isPackageEnabled reports whether the spec has a package, and enables it.
func (f *Facts) isPackageEnabled(name string) bool {
	return f.Layers[name] > 0 && !slices.Contains(f.Disabled, name)
}

// findPackage returns the first package that is meant, or nil.
func (f *Facts) findPackage(matches func(statev1alpha1.PackageObservation) bool) *statev1alpha1.PackageObservation {
	i := slices.IndexFunc(f.Observed.Packages, matches)
	if i < 0 {
		return nil
	}
	return &f.Observed.Packages[i]
}

// failedPackage returns the first package that failed, or nil. A package that waits for its turn did not fail: the failure was of an earlier spec.
func (f *Facts) failedPackage() *statev1alpha1.PackageObservation {
	return f.findPackage(func(p statev1alpha1.PackageObservation) bool { return p.HasFailed() })
}

// pendingPackage returns the first package that does not run its current spec, or nil.
func (f *Facts) pendingPackage() *statev1alpha1.PackageObservation {
	return f.findPackage(func(p statev1alpha1.PackageObservation) bool {
		if f.isPackageEnabled(p.Name) {
			return p.Status != statev1alpha1.StatusSuccess || p.IsWaiting()
		}
		return f.Layers[p.Name] > 0 && p.Status != statev1alpha1.StatusRemoved && p.Status != statev1alpha1.StatusNotDeployed
	})
}

// degradedPackage returns the first package that was deployed and is not ready, or nil.
func (f *Facts) degradedPackage() *statev1alpha1.PackageObservation {
	return f.findPackage(func(p statev1alpha1.PackageObservation) bool { return f.isPackageEnabled(p.Name) && !p.Ready })
}

// countReadyPackages returns the number of packages that run their current spec, and are ready.
func (f *Facts) countReadyPackages() int {
	ready := 0
	for _, p := range f.Observed.Packages {
		if f.isAboutCurrentSpec() && f.isPackageEnabled(p.Name) && p.Ready && p.Status == statev1alpha1.StatusSuccess && p.Reason == "" {
			ready++
		}
	}
	return ready
}

// currentState returns the status of the Bundle, or "" as long as the provider reports about another spec.
func (f *Facts) currentState() string {
	if !f.isAboutCurrentSpec() {
		return ""
	}
	return f.Observed.Status
}
