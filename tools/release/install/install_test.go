package install

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// readObjects returns the names of the objects of a YAML text by kind, and the prefixes of images that ImageConfigs match.
func readObjects(t *testing.T, text []byte) (map[string][]string, []string) {
	t.Helper()
	names, prefixes := map[string][]string{}, []string(nil)
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		object := struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ MatchImages []struct{ Prefix string } }
		}{}
		if err := yaml.Unmarshal([]byte(part), &object); err != nil {
			t.Fatal(err)
		}
		names[object.Kind] = append(names[object.Kind], object.Metadata.Name)
		for _, m := range object.Spec.MatchImages {
			prefixes = append(prefixes, m.Prefix)
		}
	}
	return names, prefixes
}

// TestManifests builds the manifests of this project's own examples.
func TestManifests(t *testing.T) {
	text, err := Manifests(os.DirFS("../../../examples"))
	if err != nil {
		t.Fatal(err)
	}
	names, prefixes := readObjects(t, text)
	delete(names, "") // The comment at the top.
	want := map[string][]string{"DeploymentRuntimeConfig": {"intentplane-provider", "intentplane-function"}, "ImageConfig": {"intentplane-runtime", "intentplane-function-runtime"}}
	got := map[string][]string{}
	for kind := range want {
		got[kind] = names[kind]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("The settings of programs are there, and no object of another registry: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ghcr.io/intentplane/provider-intentplane", "ghcr.io/intentplane/function-intentplane"}, prefixes); diff != "" {
		t.Errorf("ImageConfigs match the released packages alone: -want, +got:\n%s", diff)
	}
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"} {
		if len(names[kind]) == 0 {
			t.Errorf("Rights and policies are there, and %s is not", kind)
		}
	}
}

func TestManifestsRefuse(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  fs.FS
	}{
		"Nothing": {reason: "A folder without examples has no manifests.", files: fstest.MapFS{}},
		"Mirror": {
			reason: "An object that names another registry in a way that is not known is not released.",
			files: fstest.MapFS{
				"install/kustomization.yaml": {Data: []byte("resources: [a.yaml]")},
				"install/a.yaml":             {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {image: registry.example.org/a}\n")},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if text, err := Manifests(tc.files); err == nil {
				t.Errorf("\n%s\nManifests(...): got\n%s", tc.reason, text)
			}
		})
	}
}

func TestVerification(t *testing.T) {
	const key = "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----\n"
	text, err := Verification([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	names, prefixes := readObjects(t, text)
	delete(names, "")
	if diff := cmp.Diff(map[string][]string{"Secret": {secretName}, "ImageConfig": {"intentplane-verification"}}, names); diff != "" {
		t.Errorf("A Secret has the key, and an ImageConfig names it: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{Repository}, prefixes); diff != "" {
		t.Errorf("All packages are verified: -want, +got:\n%s", diff)
	}
	if !strings.Contains(string(text), "BEGIN PUBLIC KEY") || strings.Contains(string(text), "PRIVATE") {
		t.Errorf("The public key is there alone:\n%s", text)
	}
}
