package render

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

func TestValidateExamples(t *testing.T) {
	v := newValidator(t)
	files := v.copyExamples(t)
	out, err := v.runValidation(t, "", files...)
	if err != nil || strings.Contains(foreign.ReplaceAllString(out, ""), "[!]") {
		t.Errorf("crossplane beta validate refuses the examples, or knows no schema for some: %v\n%s", err, out)
	}
	objects := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := kubernetes.ParseYAML(b)
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

func TestValidateBroken(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"UnknownField": {
			reason: "A field that does not exist is refused.",
			object: brokenClaim + `{intent: a, deliveryConfig: {targetsite: edge1}}`,
			want:   `spec.deliveryConfig.targetsite: Invalid value: "targetsite": unknown field`,
		},
		"BothIntents": {
			reason: "There is one place for the intent.",
			object: brokenClaim + `{intent: a, expectation: {service: a}}`, want: "exactly one of intent and expectation must be set",
		},
		"NoIntent": {
			reason: "A spec without an intent is refused, for it has no default.",
			object: brokenClaim + `{suspend: true}`, want: "exactly one of intent and expectation must be set",
		},
		"Type": {
			reason: "A field that wants a boolean refuses a number.",
			object: brokenClaim + `{intent: a, suspend: 3}`, want: "spec.suspend: Invalid value:",
		},
		"Enum": {
			reason: "A closed value is one of its values.",
			object: brokenClaim + `{intent: a, deliveryConfig: {deletionPolicy: Forget}}`,
			want:   `spec.deliveryConfig.deletionPolicy: Unsupported value: "Forget"`,
		},
		"Bound": {
			reason: "A port is a port.",
			object: brokenClaim + `{expectation: {service: a, endpoints: [{name: a, port: 70000}]}}`,
			want:   "spec.expectation.endpoints[0].port: Invalid value: 70000",
		},
		"Pattern": {
			reason: "A name is not a path.",
			object: brokenClaim + `{intent: a, deliveryConfig: {targetSite: ../x}}`, want: `spec.deliveryConfig.targetSite: Invalid value: "../x"`,
		},
		"Rule": {
			reason: "Rules over values of a claim hold.",
			object: brokenClaim + `{intent: a, compileConfig: {renderTimeout: 61s}}`, want: "at most 60s",
		},
		"LongName": {
			reason: "A claim's name becomes a directory.",
			object: strings.Replace(brokenClaim, "name: shop", "name: "+strings.Repeat("a", 64), 1) + `{intent: a}`, want: "metadata.name: Too long",
		},
		"Namespaced": {
			reason: "Both shapes have one schema.",
			object: strings.Replace(brokenClaim, "claims.", "", 1) + `{intent: a, suspendd: true}`, want: "spec.suspendd: Invalid value",
		},
		"SitePath": {
			reason: "A Site stays below the prefix.",
			object: brokenSite + `{cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: ../x}}`,
			want:   "spec.repository.path: Invalid value",
		},
		"SiteClusters": {
			reason: "A Site is one cluster.",
			object: brokenSite + `{cluster: {}, engine: {type: None}, repository: {path: x}}`,
			want:   "exactly one of controlPlane, kubeconfigSecretRef and clusterRef",
		},
		"SiteRequired": {
			reason: "A Site without a repository is refused.",
			object: brokenSite + `{cluster: {controlPlane: {}}, engine: {type: None}}`, want: "spec.repository: Required value",
		},
		"ConfigURL": {
			reason: "Credentials do not belong into a URL.",
			object: brokenConfig + `{controlPlane: a, git: {url: "https://u:p@h/r.git"}}`, want: "spec.git.url: Invalid value",
		},
		"ConfigNamespace": {
			reason: "A ClusterProviderConfig is in no namespace.",
			object: brokenConfig + `{controlPlane: a, git: {url: "https://h/r.git", credentials: {type: Basic, secretRef: {name: s}}}}`,
			want:   "each secretRef must set namespace",
		},
		"ClusterUnion": {
			reason: "A cluster has the block of its type.",
			object: brokenCluster + `{type: Topology, version: v1.34.2}`, want: "topology must be set with type Topology, and with no other",
		},
		"ClusterVersion": {
			reason: "A cluster that the provider creates needs a version.",
			object: brokenCluster + `{type: Topology, topology: {classRef: {name: a}}}`, want: "version is required unless type is Existing",
		},
		"BlueprintName": {
			reason: "A Blueprint's name says which version it is.",
			object: brokenBlueprint + `{blueprintName: web, version: 1.0.1, serviceTypes: [web], files: {a: b}}`, want: "metadata.name must be",
		},
	}
	v := newValidator(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := v.runValidation(t, tc.object, "-")
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
