// Package packages holds what is packaged to what packages promise.
package packages

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	extv1alpha1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1alpha1"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/package/provider"
)

// read reads an object from a file.
func read(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(b, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// groups returns the groups of the provider's kinds, sorted.
func groups(t *testing.T) []string {
	t.Helper()
	crds := provider.CRDs()
	files, err := fs.Glob(crds, "crds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		read(t, filepath.Join("provider", f), crd)
		out = append(out, crd.Spec.Group)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestActivationPolicies(t *testing.T) {
	var want []extv1alpha1.ActivationPolicy
	for _, g := range groups(t) {
		want = append(want, extv1alpha1.ActivationPolicy("*."+g))
	}
	for _, file := range []string{"activation/claims.yaml", "activation/namespaced.yaml"} {
		t.Run(file, func(t *testing.T) {
			p := &extv1alpha1.ManagedResourceActivationPolicy{}
			read(t, file, p)
			if diff := cmp.Diff(want, p.Spec.Activations); diff != "" {
				t.Errorf("A policy activates all groups of the provider's kinds and no other: -want, +got:\n%s", diff)
			}
		})
	}
}

// metadataFiles are the files with the metadata of packages.
func metadataFiles() []string {
	return []string{"../crossplane.yaml", "namespaced/crossplane.yaml", "applications/crossplane.yaml", "function/crossplane.yaml", "provider/crossplane.yaml"}
}

// TestCrossplaneVersions asks the constraint of each package, which Crossplane's package manager checks before it installs the package.
func TestCrossplaneVersions(t *testing.T) {
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"v1.20.0":     {reason: "Crossplane 1 has neither namespaced composites nor activation policies."},
		"v2.3.9":      {reason: "A version of Crossplane that was never tested is refused."},
		"v2.4.0":      {reason: "The tested version is accepted.", want: true},
		"v2.4.0-rc.1": {reason: "A candidate of the tested version is accepted.", want: true},
		"v2.5.0":      {reason: "A later minor version is accepted.", want: true},
	}
	for _, file := range metadataFiles() {
		m := struct {
			Spec struct {
				Crossplane struct {
					Version string `json:"version"`
				} `json:"crossplane"`
			} `json:"spec"`
		}{}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		constraint, err := semver.NewConstraint(m.Spec.Crossplane.Version)
		if err != nil {
			t.Errorf("%s has no constraint on the version of Crossplane: %v", file, err)
			continue
		}
		for version, tc := range cases {
			if got := constraint.Check(semver.MustParse(version)); got != tc.want {
				t.Errorf("\n%s\n%s: %s fits %q: want %t, got %t", tc.reason, file, version, m.Spec.Crossplane.Version, tc.want, got)
			}
		}
	}
}

func TestMetadata(t *testing.T) {
	for _, file := range metadataFiles() {
		t.Run(file, func(t *testing.T) {
			m := &metav1.PartialObjectMetadata{}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(b, m); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{
				"friendly-name.meta.crossplane.io", "meta.crossplane.io/maintainer", "meta.crossplane.io/source", "meta.crossplane.io/license",
				"meta.crossplane.io/description", "meta.crossplane.io/readme", "meta.crossplane.io/iconURI",
			} {
				if strings.TrimSpace(m.Annotations[name]) == "" {
					t.Errorf("A package has the annotation %s.", name)
				}
			}
			if icon := m.Annotations["meta.crossplane.io/iconURI"]; !strings.HasPrefix(icon, "data:image/svg+xml;base64,") {
				t.Errorf("The icon is in the package: %q", icon)
			}
		})
	}
}

// TestRendererVersion compares what the package says with the code in it.
func TestRendererVersion(t *testing.T) {
	f := &pkgmetav1.Function{}
	read(t, "function/crossplane.yaml", f)
	if got, want := f.Annotations[render.AnnotationVersion], strconv.Itoa(int(render.Version)); got != want {
		t.Errorf("function/crossplane.yaml says in %s which renderer the function has: got %q, want %q", render.AnnotationVersion, got, want)
	}
}

func TestDependencies(t *testing.T) {
	packages := []string{"Function ghcr.io/intentplane/function-intentplane", "Provider ghcr.io/intentplane/provider-intentplane"}
	for file, want := range map[string][]string{
		"../crossplane.yaml": packages, "namespaced/crossplane.yaml": packages,
		"applications/crossplane.yaml": {"Configuration ghcr.io/intentplane/configuration-intentplane-namespaced"},
	} {
		t.Run(file, func(t *testing.T) {
			c := &pkgmetav1.Configuration{}
			read(t, file, c)
			var got []string
			for _, d := range c.Spec.DependsOn {
				got = append(got, *d.Kind+" "+*d.Package)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("A Configuration depends on what its kinds need: -want, +got:\n%s", diff)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	cases := map[string]struct {
		reason  string
		version string
		want    string
		takes   []string
		refuses []string
	}{
		"Release": {
			reason: "A release takes later ones of its minor version, and no candidates.", version: "v1.2.3", want: ">=v1.2.3, <v1.3.0",
			takes: []string{"v1.2.3", "v1.2.10"}, refuses: []string{"v1.2.2", "v1.2.4-rc.1", "v1.3.0", "v1.3.0-rc.1", "v9.9.9-rc.1", "v2.0.0"},
		},
		"PreRelease": {
			reason: "A pre-release takes later ones of its minor version, and no candidate of the next.", version: "v0.1.0-0.git", want: ">=v0.1.0-0.git, <v0.2.0-0",
			takes: []string{"v0.1.0-0.git", "v0.1.0-rc.1", "v0.1.0", "v0.1.7"}, refuses: []string{"v0.0.9", "v0.2.0-rc.1", "v0.2.0", "v9.9.9-rc.1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "make", "--silent", "--eval=bounds: ; @echo '$(DEPENDENCIES)'", "bounds", "VERSION="+tc.version)
			cmd.Dir = ".."
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimSpace(string(out))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Fatalf("\n%s\nDEPENDENCIES: -want, +got:\n%s", tc.reason, diff)
			}
			c, err := semver.NewConstraint(got)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range tc.takes {
				if !c.Check(semver.MustParse(v)) {
					t.Errorf("\n%s\n%s should be taken by %s", tc.reason, v, got)
				}
			}
			for _, v := range tc.refuses {
				if c.Check(semver.MustParse(v)) {
					t.Errorf("\n%s\n%s should not be taken by %s", tc.reason, v, got)
				}
			}
		})
	}
}

// TestPackageVersions asks make for the commands that build packages of a version, and runs none of them.
func TestPackageVersions(t *testing.T) {
	cases := map[string]struct {
		reason  string
		version string
		refused bool
	}{
		"Release":     {reason: "A version has three numbers.", version: "v0.1.0"},
		"Candidate":   {reason: "A candidate is a version.", version: "v0.1.0-rc.1"},
		"NoV":         {reason: "A version begins with v.", version: "0.1.0", refused: true},
		"TwoNumbers":  {reason: "A version of two numbers is refused.", version: "v0.1", refused: true},
		"FourNumbers": {reason: "A version of four numbers is refused.", version: "v0.1.0.0", refused: true},
		"Letters":     {reason: "The minor version is a number: the packages of the next one are not accepted.", version: "vx.y.z", refused: true},
		"LeadingZero": {reason: "A number has no leading zero.", version: "v0.01.0", refused: true},
		"Metadata":    {reason: "The tag of an image has no plus sign.", version: "v0.1.0+build", refused: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "make", "--dry-run", "xpkg", "VERSION="+tc.version, "OUTPUT="+t.TempDir(), "ARCH=amd64")
			cmd.Dir = ".."
			// This make has nothing to do with the make that runs the tests.
			cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
				return strings.HasPrefix(entry, "MAKE") || strings.HasPrefix(entry, "MFLAGS=")
			})
			out, err := cmd.CombinedOutput()
			want := `cannot build packages of version "` + tc.version + `": want a semantic version`
			if (err != nil) != tc.refused || strings.Contains(string(out), want) != tc.refused {
				t.Errorf("\n%s\nmake xpkg VERSION=%s: want a refusal: %v, got %v:\n%s", tc.reason, tc.version, tc.refused, err, out)
			}
		})
	}
}
