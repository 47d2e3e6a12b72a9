package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// ruled is a Blueprint with a kind of its own, whose size must be even.
const ruled = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Blueprint
metadata: {name: web-1.0.0, labels: {blueprint: web, channel: stable}}
spec:
  blueprintName: web
  version: 1.0.0
  serviceTypes: [web]
  examples: [{intent: '{"service": "a"}'}]
  files:
    kustomization.yaml: "resources: [a.yaml]"
    a.yaml: "{apiVersion: x.org/v1, kind: Thing, metadata: {name: a}, size: SIZE}"
    crd.yaml: |
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: things.x.org}
      spec:
        group: x.org
        scope: Namespaced
        names: {kind: Thing, plural: things}
        versions:
        - name: v1
          served: true
          storage: true
          schema: {openAPIV3Schema: {type: object, x-kubernetes-validations: [{rule: "self.size % 2 == 0", message: must be even}], properties: {size: {type: integer}}}}
`

const allowThings = `apiVersion: config.intentplane.dev/v1alpha1
kind: ClusterProviderConfig
metadata: {name: default}
spec: {controlPlane: a, git: {url: "https://h/r.git"}, policy: {allowedKinds: [{group: x.org, kinds: [Thing]}]}}
`

func TestRulesOfBlueprints(t *testing.T) {
	odd := strings.Replace(ruled, "SIZE", "3", 1)
	atSite := strings.Replace(claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   int
		says   string
	}{
		"Test": {reason: "An example that breaks a rule fails.", in: odd, args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: `failed: thing-a.yaml: Thing.x.org "a": Invalid value: must be even`},
		"Kept": {
			reason: "A value that keeps the rule is valid.",
			in:     strings.Replace(ruled, "SIZE", "4", 1), args: []string{"blueprint", "test", "-"}, says: "ok",
		},
		"Validate": {reason: "An object of a Blueprint that breaks its definition's rule is a finding.", in: odd, args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: `-:8: Blueprint web-1.0.0: RenderFailed: thing-a.yaml: Thing.x.org "a": Invalid value: must be even`},
		"Claim":    {reason: "A claim that renders to an object that breaks a rule is a finding.", in: atSite, args: []string{"validate", "-", "--site", examples + "10-sites.yaml", "--blueprint", file(t, odd)}, want: terminal.ExitInvalid, says: `RenderFailed: Site "edge1": thing-a.yaml: Thing.x.org "a": Invalid value: must be even`},
		"Limited":  {reason: "Rules hold with the limits of a configuration too.", in: atSite, args: []string{"validate", "-", "--site", examples + "10-sites.yaml", "--blueprint", file(t, odd), "--config", file(t, allowThings)}, want: terminal.ExitInvalid, says: `RenderFailed: Site "edge1": thing-a.yaml: Thing.x.org "a": Invalid value: must be even`},
		"BadRule": {
			reason: "A rule that cannot be compiled fails the test.",
			in:     strings.Replace(odd, "self.size % 2", "self.size %% 2", 1), args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: "failed",
		},
		"NoSchema": {reason: "A definition without a schema is not usable.", in: strings.Replace(odd, "schema: {openAPIV3Schema", "schemas: {openAPIV3Schema", 1), args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: `failed: spec.files: cannot use CustomResourceDefinition "things.x.org": version v1 has no schema`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(tc.in, tc.args...)
			if code != tc.want || !strings.Contains(out, tc.says) {
				t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.want, tc.says, code, out, problems)
			}
		})
	}
}

// file returns the name of a file with a text in it.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
