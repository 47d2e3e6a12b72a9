package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
)

// A graph has the dependencies of packages, by their names.
type graph map[v1alpha1.PackageName][]v1alpha1.PackageName

// newPackageGraph returns the graph of packages, or a sentence about the first name that occurs twice, is unknown or is not enabled.
func newPackageGraph(packages []v1alpha1.Package) (graph, string) {
	g := graph{}
	for i, p := range packages {
		if _, ok := g[p.Name]; ok {
			return nil, fmt.Sprintf("spec.packages[%d].name: %q is the name of another package already", i, p.Name)
		}
		g[p.Name] = slices.Sorted(slices.Values(p.DependsOn))
	}
	return g, cmp.Or(findUnknownName(packages, g), findDisabledName(packages))
}

// findDisabledName returns a sentence about the first package that would wait forever: an enabled package that depends on a disabled package.
func findDisabledName(packages []v1alpha1.Package) string {
	disabled := listDisabled(packages)
	for _, p := range packages {
		i := slices.IndexFunc(p.DependsOn, func(name v1alpha1.PackageName) bool { return slices.Contains(disabled, name) })
		if i >= 0 && !isPackageDisabled(p) {
			return fmt.Sprintf("spec.packages[%s].dependsOn: package %q is not enabled: enable it, or disable this one, too", p.Name, p.DependsOn[i])
		}
	}
	return ""
}

func listDisabled(packages []v1alpha1.Package) []v1alpha1.PackageName {
	out := []v1alpha1.PackageName{}
	for _, p := range packages {
		if isPackageDisabled(p) {
			out = append(out, p.Name)
		}
	}
	return out
}

func isPackageDisabled(p v1alpha1.Package) bool { return p.Enabled != nil && !*p.Enabled }

func findUnknownName(packages []v1alpha1.Package, g graph) string {
	for _, p := range packages {
		for _, name := range p.DependsOn {
			if _, ok := g[name]; !ok {
				return fmt.Sprintf("spec.packages[%s].dependsOn: the Bundle has no package %q", p.Name, name)
			}
		}
	}
	return ""
}

// OrderPackages returns the layer of each package, from 1: a package is in the layer after the last layer of its dependencies. It returns a sentence
// instead for names that occur twice, are unknown or are not enabled, and for a cycle, which it names by its path.
func OrderPackages(packages []v1alpha1.Package) (map[v1alpha1.PackageName]int32, string) {
	g, problem := newPackageGraph(packages)
	if problem != "" {
		return nil, problem
	}
	layers := map[v1alpha1.PackageName]int32{}
	for _, p := range packages {
		if cycle := g.placePackage(p.Name, nil, layers); cycle != nil {
			return nil, fmt.Sprintf("spec.packages[%s].dependsOn: the packages wait for each other: %s", cycle[0], joinPackagePath(cycle))
		}
	}
	return layers, ""
}

// placePackage finds the layer of a package, after the layers of its dependencies. It returns the path of a cycle that it meets. The path has the
// packages that wait for this package.
func (g graph) placePackage(name v1alpha1.PackageName, path []v1alpha1.PackageName, layers map[v1alpha1.PackageName]int32) []v1alpha1.PackageName {
	if layers[name] > 0 {
		return nil
	}
	if i := slices.Index(path, name); i >= 0 {
		return append(slices.Clone(path[i:]), name)
	}
	path = append(path, name)
	last := int32(0)
	for _, needed := range g[name] {
		if cycle := g.placePackage(needed, path, layers); cycle != nil {
			return cycle
		}
		last = max(last, layers[needed])
	}
	layers[name] = last + 1
	return nil
}

func joinPackagePath(names []v1alpha1.PackageName) string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, string(name))
	}
	return strings.Join(out, " → ")
}
