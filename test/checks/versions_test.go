package checks

import (
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/semver"
)

// TestSharedVersions reads the modules of this project and of the programs that it builds. Two versions of a dependency are compiled twice: on two
// processors client-go and its imports take two minutes. These modules therefore require one version of each dependency.
func TestSharedVersions(t *testing.T) {
	separate := []string{
		"argocd", "capt", "vulndb", // are folders of files, and nothing is compiled
		"clusterapi110", "crossplane-cli", "kpack", // do not compile with newer versions of Kubernetes
		"clusterapi", "kube-state-metrics", "traefik", // are built for few suites
		"actionlint", "gofumpt", "golangci-lint", "gotestsum", "govulncheck", // share no large dependency
	}
	folders, err := filepath.Glob("../../tools/*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	modules := []string{"../../go.mod"}
	for _, folder := range folders {
		if !slices.Contains(separate, filepath.Base(filepath.Dir(folder))) {
			modules = append(modules, folder)
		}
	}
	highest := map[string]string{}
	for _, module := range modules {
		for path, version := range readVersions(t, module) {
			if semver.Compare(version, highest[path]) > 0 {
				highest[path] = version
			}
		}
	}
	for _, module := range modules {
		for path, version := range readVersions(t, module) {
			if version != highest[path] {
				t.Errorf("%s requires %s %s, another module %s: run \"go mod edit -require=%s@%s\" in its folder, and build it with -mod=mod",
					module, path, version, highest[path], path, highest[path])
			}
		}
	}
}
