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

	"github.com/intentplane/intentplane/test/controlplane"
)

// image stands for Crossplane's own package, which would be pulled for its CRDs: they are put where a pulled one is cached.
const (
	image    = "127.0.0.1:5999/crossplane:v2.4.0"
	imageDir = "127.0.0.1@5999/crossplane@v2.4.0"
)

// validator runs "crossplane beta validate" with our definitions, and returns what it prints.
type validator struct{ root, cli, cache string }

func newValidator(t *testing.T) *validator {
	t.Helper()
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	tools, err := controlplane.FindTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v := &validator{root: root, cli: crossplaneCLI(t), cache: t.TempDir()}
	if err := os.CopyFS(filepath.Join(v.cache, imageDir), os.DirFS(tools.CrossplaneCRDs)); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *validator) run(t *testing.T, in string, resources ...string) (string, error) {
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

// examples are copies of all files of the examples that hold whole objects, as a reader has filled them in: neither parts of a Blueprint,
// nor the part of a composite that "crossplane render" prints, nor what kustomize reads.
func (v *validator) examples(t *testing.T) []string {
	t.Helper()
	source, dir, out := os.DirFS(filepath.Join(v.root, "examples")), t.TempDir(), []string{}
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" || slices.Contains([]string{"want.yaml", "kustomization.yaml"}, filepath.Base(name)) {
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
var foreign = regexp.MustCompile(`(?m)^\[!\] could not find CRD/XRD for: (rbac\.authorization\.k8s\.io/v1|/v1|admissionregistration\.k8s\.io/v1|(source|kustomize)\.toolkit\.fluxcd\.io/v1|argoproj\.io/v1alpha1), Kind=\w+\n`)

func TestValidateExamples(t *testing.T) {
	v := newValidator(t)
	files := v.examples(t)
	out, err := v.run(t, "", files...)
	if err != nil || strings.Contains(foreign.ReplaceAllString(out, ""), "[!]") {
		t.Errorf("crossplane beta validate refuses the examples, or knows no schema for some: %v\n%s", err, out)
	}
	objects := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := controlplane.ParseYAML(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found {
			if !strings.HasSuffix(o.GroupVersionKind().Group, "intentplane.dev") {
				continue
			}
			objects++
			if line := "[✓] " + o.GroupVersionKind().String() + ", " + o.GetName() + " validated"; !strings.Contains(out, line) {
				t.Errorf("%s: want %q in:\n%s", file, line, out)
			}
		}
	}
	if objects < 20 {
		t.Errorf("the examples hold %d objects of ours, want at least 20", objects)
	}
}

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

func TestValidateBroken(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"UnknownField":    {reason: "A field that does not exist is refused.", object: brokenClaim + `{intent: a, deliveryConfig: {targetsite: edge1}}`, want: `spec.deliveryConfig.targetsite: Invalid value: "targetsite": unknown field`},
		"BothIntents":     {reason: "There is one place for the intent.", object: brokenClaim + `{intent: a, expectation: {service: a}}`, want: "exactly one of intent and expectation must be set"},
		"NoIntent":        {reason: "There is no default for it.", object: brokenClaim + `{suspend: true}`, want: "exactly one of intent and expectation must be set"},
		"Type":            {reason: "A field that wants a boolean refuses a number.", object: brokenClaim + `{intent: a, suspend: 3}`, want: "spec.suspend: Invalid value:"},
		"Enum":            {reason: "A closed value is one of its values.", object: brokenClaim + `{intent: a, deliveryConfig: {deletionPolicy: Forget}}`, want: `spec.deliveryConfig.deletionPolicy: Unsupported value: "Forget"`},
		"Bound":           {reason: "A port is a port.", object: brokenClaim + `{expectation: {service: a, endpoints: [{name: a, port: 70000}]}}`, want: "spec.expectation.endpoints[0].port: Invalid value: 70000"},
		"Pattern":         {reason: "A name is not a path.", object: brokenClaim + `{intent: a, deliveryConfig: {targetSite: ../x}}`, want: `spec.deliveryConfig.targetSite: Invalid value: "../x"`},
		"Rule":            {reason: "Rules over values of a claim hold.", object: brokenClaim + `{intent: a, compileConfig: {renderTimeout: 61s}}`, want: "at most 60s"},
		"LongName":        {reason: "A claim's name becomes a directory.", object: strings.Replace(brokenClaim, "name: shop", "name: "+strings.Repeat("a", 64), 1) + `{intent: a}`, want: "metadata.name: Too long"},
		"Namespaced":      {reason: "Both shapes have one schema.", object: strings.Replace(brokenClaim, "claims.", "", 1) + `{intent: a, suspendd: true}`, want: "spec.suspendd: Invalid value"},
		"SitePath":        {reason: "A Site stays below the prefix.", object: brokenSite + `{cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: ../x}}`, want: "spec.repository.path: Invalid value"},
		"SiteClusters":    {reason: "A Site is one cluster.", object: brokenSite + `{cluster: {}, engine: {type: None}, repository: {path: x}}`, want: "exactly one of controlPlane, kubeconfigSecretRef and clusterRef"},
		"SiteRequired":    {reason: "A Site without a repository is refused.", object: brokenSite + `{cluster: {controlPlane: {}}, engine: {type: None}}`, want: "spec.repository: Required value"},
		"ConfigURL":       {reason: "Credentials do not belong into a URL.", object: brokenConfig + `{controlPlane: a, git: {url: "https://u:p@h/r.git"}}`, want: "spec.git.url: Invalid value"},
		"ConfigNamespace": {reason: "A ClusterProviderConfig is in no namespace.", object: brokenConfig + `{controlPlane: a, git: {url: "https://h/r.git", credentials: {type: Basic, secretRef: {name: s}}}}`, want: "each secretRef must set namespace"},
		"ClusterUnion":    {reason: "A cluster has the block of its type.", object: brokenCluster + `{type: Topology, version: v1.34.2}`, want: "topology must be set with type Topology, and with no other"},
		"ClusterVersion":  {reason: "What is made has a version.", object: brokenCluster + `{type: Topology, topology: {classRef: {name: a}}}`, want: "version is required unless type is Existing"},
		"BlueprintName":   {reason: "A Blueprint's name says which version it is.", object: brokenBlueprint + `{blueprintName: web, version: 1.0.1, serviceTypes: [web], files: {a: b}}`, want: "metadata.name must be"},
	}
	v := newValidator(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := v.run(t, tc.object, "-")
			if err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("\n%s\ncrossplane beta validate: want a refusal with %q, got %v:\n%s", tc.reason, tc.want, err, out)
			}
			mistakes := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool { return !strings.HasPrefix(line, "[x]") })
			if len(mistakes) != 1 {
				t.Errorf("\n%s\ncrossplane beta validate: want one mistake and no other, got %d:\n%s", tc.reason, len(mistakes), out)
			}
		})
	}
}
