package diagnosis

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
)

// minKubernetes is the first version that serves the policies of examples/policies.
const minKubernetes = ">=1.30.0-0"

// versionLines compare the versions of all parts. All parts of Intentplane must have one minor version.
func versionLines(e *Expected, f *Facts) []Line {
	out := crossplaneLines(e, f)
	packages := f.allPackages()
	base := basePackage(packages)
	for i := range packages {
		out = append(out, versionSkewLine(packages[i].kindAndName(), packages[i].Version(), base))
	}
	return append(out, versionSkewLine("kubectl-intent", f.Client, base))
}

// allPackages returns the Configurations, functions and providers that were read.
func (f *Facts) allPackages() []Package {
	var out []Package
	for _, p := range []Part[Package]{f.Configurations, f.Functions, f.Providers} {
		out = append(out, p.Items...)
	}
	return out
}

// basePackage is the package that the others are compared with: the first whose version is known, or nil. People install Configurations.
func basePackage(all []Package) *Package {
	for i := range all {
		if _, err := semver.NewVersion(all[i].Version()); err == nil {
			return &all[i]
		}
	}
	return nil
}

// versionSkewLine compares a version with the version of a package.
func versionSkewLine(object, version string, base *Package) Line {
	out := Line{Check: checkVersions, Object: object, Result: Unknown, Message: version}
	v, err := semver.NewVersion(version)
	if err != nil {
		out.Message = describeVersion(version)
		return out
	}
	if base == nil {
		return out
	}
	b := semver.MustParse(base.Version())
	if out.Result = OK; v.Major() != b.Major() || v.Minor() != b.Minor() {
		out.Result, out.Message = Problem, fmt.Sprintf("%s is of another minor version than %s, which is %s.", version, base.kindAndName(), base.Version())
		out.Fix = fmt.Sprintf("Take all parts of one minor version, as docs/install.md#upgrading says: v%d.%d of this one, or a newer %s.", b.Major(), b.Minor(), base.kindAndName())
	}
	return out
}

// describeVersion says that a version cannot be compared.
func describeVersion(version string) string {
	if version == "" {
		return "no tag says the version"
	}
	return fmt.Sprintf("%s is not a version that can be compared", version)
}

// installedLines name the packages of another minor version than kubectl-intent, which are in the cluster before an installation. A version that cannot be compared
// says nothing.
func installedLines(f *Facts) []Line {
	client, err := semver.NewVersion(f.Client)
	if err != nil {
		return nil
	}
	var out []Line
	for _, p := range f.allPackages() {
		v, err := semver.NewVersion(p.Version())
		if err != nil || v.Major() == client.Major() && v.Minor() == client.Minor() {
			continue
		}
		l := Line{Check: checkVersions, Object: p.kindAndName(), Result: Problem, Message: fmt.Sprintf("%s is installed, and kubectl-intent is %s.", p.Version(), f.Client)}
		l.Fix = "Upgrade by one minor version at a time, as docs/install.md#upgrading says."
		if client.LessThan(v) {
			l.Fix = fmt.Sprintf("Install kubectl-intent v%d.%d.", v.Major(), v.Minor())
		}
		out = append(out, l)
	}
	return out
}

// crossplaneLines say whether Crossplane is there, and new enough.
func crossplaneLines(e *Expected, f *Facts) []Line {
	if f.Configurations.IsAbsent {
		return []Line{{
			Check: checkVersions, Object: "Crossplane", Result: Problem, Message: "The cluster does not have the kinds of Crossplane.",
			Fix: "Install Crossplane: docs/install.md says how.",
		}}
	}
	if f.Crossplane.Unread != nil {
		return []Line{unreadLine(checkVersions, f.Crossplane.Unread)}
	}
	if len(f.Crossplane.Items) == 0 {
		return []Line{{Check: checkVersions, Object: "Crossplane", Result: Unknown, Message: "no Deployment has the label app=crossplane"}}
	}
	var out []Line
	for i := range f.Crossplane.Items {
		w := &f.Crossplane.Items[i]
		out = append(out, constraintLine("Crossplane "+w.Metadata.Namespace+"/"+w.Metadata.Name, w.Version(), e.Crossplane, "Upgrade Crossplane: the packages of Intentplane demand %s."))
	}
	return out
}

// constraintLine says whether a version fits a constraint. The fix gets the constraint.
func constraintLine(object, version, constraint, fix string) Line {
	out := Line{Check: checkVersions, Object: object, Result: Unknown, Message: version}
	fits, err := semver.NewConstraint(constraint)
	v, wrong := semver.NewVersion(version)
	if err != nil || wrong != nil {
		out.Message = describeVersion(version)
		return out
	}
	if out.Result = OK; !fits.Check(v) {
		out.Result, out.Message, out.Fix = Problem, version+" does not fit "+constraint+".", fmt.Sprintf(fix, constraint)
	}
	return out
}

// kubernetesLines say whether the API server is new enough.
func kubernetesLines(f *Facts) []Line {
	if f.Kubernetes.Unread != nil {
		return []Line{unreadLine(checkVersions, f.Kubernetes.Unread)}
	}
	var out []Line
	for _, v := range f.Kubernetes.Items {
		out = append(out, constraintLine("Kubernetes", v, minKubernetes, "Upgrade Kubernetes: the policies of Intentplane need %s."))
	}
	return out
}
