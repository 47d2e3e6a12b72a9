package render

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// image stands for Crossplane's own package, which would be pulled for its CRDs: they are put where a pulled one is cached.
const (
	image    = "127.0.0.1:5999/crossplane:v2.4.0"
	imageDir = "127.0.0.1@5999/crossplane@v2.4.0"
)

// validator runs "crossplane beta validate" with our definitions, and returns its output.
type validator struct{ root, cli, cache string }

func newValidator(t *testing.T) *validator {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := toolbox.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := &validator{root: root, cli: crossplaneCLI(t), cache: t.TempDir()}
	if err := os.CopyFS(filepath.Join(v.cache, imageDir), os.DirFS(tools.CrossplaneCRDs)); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *validator) runValidation(t *testing.T, in string, resources ...string) (string, error) {
	t.Helper()
	composition := filepath.Join(v.root, "apis", "composition")
	extensions := []string{
		filepath.Join(v.root, "package", "provider", "crds"),
		filepath.Join(composition, "claims", "definition.yaml"), filepath.Join(composition, "namespaced", "definition.yaml"),
		filepath.Join(composition, "claims", "workloadcluster-definition.yaml"), filepath.Join(composition, "namespaced", "workloadcluster-definition.yaml"),
		filepath.Join(composition, "applications", "claims-definition.yaml"), filepath.Join(composition, "applications", "namespaced-definition.yaml"),
		filepath.Join(composition, "applications", "bundle-claims-definition.yaml"), filepath.Join(composition, "applications", "bundle-namespaced-definition.yaml"),
	}
	cmd := exec.CommandContext(t.Context(), v.cli, "beta", "validate", strings.Join(extensions, ","), strings.Join(resources, ","),
		"--cache-dir="+v.cache, "--crossplane-image="+image)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// notFilledIn stands in the examples for a value that a reader has to choose. The API server refuses it.
const notFilledIn = "CHANGE-ME"

// copyExamples are copies of all files of the examples that hold whole objects, as a reader has filled them in: neither parts of a Blueprint,
// nor the part of a composite that "crossplane render" prints, nor files of kustomize and Helm.
func (v *validator) copyExamples(t *testing.T) []string {
	t.Helper()
	source, dir, out := os.DirFS(filepath.Join(v.root, "examples")), t.TempDir(), []string{}
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" || slices.Contains([]string{"want.yaml", "kustomization.yaml", "values.yaml"}, filepath.Base(name)) {
			return err
		}
		if part, _ := filepath.Match("blueprints/*/*", name); part {
			return nil
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		out = append(out, filepath.Join(dir, strings.ReplaceAll(name, "/", "-")))
		return os.WriteFile(out[len(out)-1], []byte(strings.ReplaceAll(string(content), notFilledIn, "chosen")), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// foreign are the kinds of the examples that no definition of ours, and none of Crossplane's, is about.
var foreign = regexp.MustCompile(`(?m)^\[!\] could not find CRD/XRD for: (rbac\.authorization\.k8s\.io/v1|/v1|admissionregistration\.k8s\.io/v1|(source|kustomize)\.toolkit\.fluxcd\.io/v1|argoproj\.io/v1alpha1|flagger\.app/v1beta1), Kind=\w+\n`)

const (
	brokenClaim = `apiVersion: claims.intentplane.dev/v1alpha1
kind: IntentDeployment
metadata: {namespace: team-a, name: shop}
spec: `
	brokenSite = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: edge1}
spec: `
	brokenConfig = `apiVersion: config.intentplane.dev/v1alpha1
kind: ClusterProviderConfig
metadata: {name: default}
spec: `
	brokenCluster = `apiVersion: claims.intentplane.dev/v1alpha1
kind: WorkloadCluster
metadata: {namespace: team-a, name: east}
spec: `
	brokenBlueprint = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Blueprint
metadata: {name: web-1.0.0}
spec: `
)
