package bundles

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRefusedBundles shows bad input to the API server.
func TestRefusedBundles(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	cases := map[string]struct{ reason, spec, want string }{
		"NoVersion":  {reason: "A Bundle has a version.", spec: `{"packages": [{"name": "a", "deployment": {}}]}`, want: "spec.version"},
		"NoPackages": {reason: "A Bundle has a package: an empty list is a mistake.", spec: `{"version": "1", "packages": []}`, want: "spec.packages"},
		"TooMany":    {reason: "A Bundle has at most 64 packages.", spec: fmt.Sprintf(`{"version": "1", "packages": [%s]}`, packageListJSON(65)), want: "64"},
		"Twice": {
			reason: "A name stands in a Bundle once.",
			spec:   `{"version": "1", "packages": [{"name": "a", "deployment": {}}, {"name": "a", "deployment": {}}]}`, want: "uplicate",
		},
		"UpperCase": {
			reason: "A name has lower-case letters.",
			spec:   `{"version": "1", "packages": [{"name": "Shop", "deployment": {}}]}`, want: "lower-case letters",
		},
		"LongName": {
			reason: "A name has at most 63 characters.",
			spec:   fmt.Sprintf(`{"version": "1", "packages": [{"name": %q, "deployment": {}}]}`, strings.Repeat("a", 64)), want: "63",
		},
		"Nothing": {
			reason: "A package is of some kind.",
			spec:   `{"version": "1", "packages": [{"name": "a"}]}`, want: "exactly one of deployment, application and existing",
		},
		"Two": {
			reason: "A package is of one kind.",
			spec:   `{"version": "1", "packages": [{"name": "a", "deployment": {}, "application": {}}]}`,
			want:   "exactly one of deployment, application and existing",
		},
		"NoObject": {reason: "The spec of a package is an object.", spec: `{"version": "1", "packages": [{"name": "a", "deployment": "intent"}]}`, want: "object"},
		"Disabled": {
			reason: "An existing package cannot be taken away.",
			spec:   `{"version": "1", "packages": [{"name": "a", "existing": {}, "enabled": false}]}`, want: "never removed",
		},
		"AdoptIt": {
			reason: "An existing package is not adopted.",
			spec:   `{"version": "1", "packages": [{"name": "a", "existing": {}, "adopt": true}]}`, want: "never adopted",
		},
		"OtherKind": {
			reason: "A package is a deployment or an Application.",
			spec:   `{"version": "1", "packages": [{"name": "a", "existing": {"kind": "Secret"}}]}`, want: "Unsupported value",
		},
		"PruneWhen": {
			reason: "Prune is Never or AfterSuccess.",
			spec:   `{"version": "1", "prune": "Always", "packages": [{"name": "a", "deployment": {}}]}`, want: "spec.prune",
		},
		"NegativeAge": {
			reason: "An age is not negative.",
			spec:   `{"version": "1", "pruneMinAge": "-1h", "packages": [{"name": "a", "deployment": {}}]}`, want: "from 0s to 8760h",
		},
		"LongAge": {
			reason: "An age is at most a year.",
			spec:   `{"version": "1", "pruneMinAge": "8761h", "packages": [{"name": "a", "deployment": {}}]}`, want: "from 0s to 8760h",
		},
		"ControlChar": {
			reason: "A version has no control characters.",
			spec:   `{"version": "1\u001b[2J", "packages": [{"name": "a", "deployment": {}}]}`, want: "control characters",
		},
	}
	for _, apiVersion := range []string{claims, namespaced} {
		for name, tc := range cases {
			t.Run(apiVersion[:6]+"/"+name, func(t *testing.T) {
				t.Parallel()
				o, spec := s.describeBundle(apiVersion, "platform", "1"), map[string]any{}
				if err := json.Unmarshal([]byte(tc.spec), &spec); err != nil {
					t.Fatal(err)
				}
				o.Object["spec"] = spec
				if got := s.Refused(o); !strings.Contains(got, tc.want) {
					t.Errorf("\n%s\nthe API server says: %s", tc.reason, got)
				}
			})
		}
	}
	cycle := s.applyAndAwaitPhase(s.describeBundle(claims, "cycle", "1", s.describePackage("a", "1", 1, "b"), s.describePackage("b", "1", 1, "a")), "Failed")
	cycle = s.Await(cycle, "an invalid spec", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", "False", "InvalidSpec") })
	if c := scene.Condition(cycle, "Valid"); !strings.Contains(c.Message, "a → b → a") || s.objectExists("a") {
		t.Errorf("a cycle: %+v", c)
	}
}

// TestWrittenExamples applies the examples and the YAML blocks of the documentation with strict validation of their fields, as a dry run, and has the function compile
// them.
func TestWrittenExamples(t *testing.T) {
	t.Parallel()
	s := newBundleStage(t)
	root, err := toolbox.Root()
	s.Must(err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "bundles.md"))
	s.Must(err)
	texts := []string{}
	for _, block := range regexp.MustCompile("(?s)\n```yaml\n(.*?)\n```").FindAllStringSubmatch(string(page), -1) {
		texts = append(texts, block[1])
	}
	files, err := filepath.Glob(filepath.Join(root, "examples", "bundles", "*.yaml"))
	s.Must(err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		s.Must(err)
		texts = append(texts, string(b))
	}
	if len(texts) < 3 {
		t.Fatalf("found %d texts", len(texts))
	}
	for i, text := range texts {
		file := filepath.Join(t.TempDir(), "bundle.yaml")
		text = strings.NewReplacer("namespace: team-a", "namespace: "+s.Namespace, "name: platform\n", fmt.Sprintf("name: platform-%d\n", i)).Replace(text)
		s.Must(os.WriteFile(file, []byte(text), 0o600))
		if out := s.Run("apply", "--validate=strict", "-f", file); !strings.Contains(out, "created") {
			t.Errorf("%s\n%s", text, out)
		}
		objects, err := kubernetes.ParseYAML([]byte(text))
		s.Must(err)
		s.Until("the function takes it", patience.Limit, func() bool { return scene.Is(s.Now(objects[0]), "Valid", "True", "") })
		s.Delete(objects[0])
	}
}

// TestRolesOnBundles reviews the rights of each role on Bundles and their packages.
func TestRolesOnBundles(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	s.Run("create", "rolebinding", "edit", "-n", s.Namespace, "--clusterrole=edit", "--user="+s.Namespace+"-edit")
	editor, provider := s.Namespace+"-edit", "system:serviceaccount:"+controlplane.Namespace+":"+controlplane.ProviderServiceAccount
	cases := map[string]struct {
		reason string
		as     string
		args   []string
		want   string
	}{
		"EditorMakesBundles": {
			reason: "An editor may create Bundles, since an editor may create deployments.",
			as:     editor, args: []string{"create", "bundles.intentplane.dev"}, want: "yes",
		},
		"EditorLeavesStates": {
			reason: "An editor may not change the composed objects of a Bundle.",
			as:     editor, args: []string{"update", "bundlestates.state.intentplane.dev"}, want: "no",
		},
		"ProviderRemovesPackages": {
			reason: "The provider removes Applications that were packages of Bundles.",
			as:     provider, args: []string{"delete", "applications.intentplane.dev"}, want: "yes",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := s.Kubectl(t.Context(), append([]string{"auth", "can-i", "-n", s.Namespace, "--as=" + tc.as}, tc.args...)...)
			if diff := cmp.Diff(tc.want, strings.TrimSpace(out)); diff != "" {
				t.Errorf("\n%s\nkubectl auth can-i %v: %v: -want, +got:\n%s", tc.reason, tc.args, err, diff)
			}
		})
	}
}
