package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestWarnings(t *testing.T) {
	const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n"
	const config = "apiVersion: config.intentplane.dev/v1alpha1\nkind: ClusterProviderConfig\nmetadata: {name: default}\nspec:\n" +
		"  controlPlane: a\n  git: {url: 'https://git.example.org/a.git', branch: main}\n  notifications: [{name: ci, url: 'https://example.org', events: [Failed]}]\n"
	warning := func(line int, kind, field, reason, message string) []Finding {
		w := Finding{File: "-", Document: 1, Line: line, Kind: kind, Field: field, Reason: reason, Message: message}
		if kind == "IntentDeployment" {
			w.Namespace, w.Name = "team-a", "shop"
		}
		return []Finding{w}
	}
	suggestion := `did you mean claims.intentplane.dev/v1alpha1 or intentplane.dev/v1alpha1?`
	group := func(wrong string) []Finding {
		return warning(1, "IntentDeployment", "apiVersion", "OtherGroup",
			`apiVersion: "`+wrong+`" is not an API version of Intentplane, so the object was not looked at: `+suggestion)
	}
	in := func(apiVersion string) string {
		return strings.Replace(cli.Claim, "claims.intentplane.dev/v1alpha1", apiVersion, 1)
	}
	passed := func(apiVersion, kind string, count int) []PassedOver {
		return []PassedOver{{APIVersion: apiVersion, Kind: kind, Count: count}}
	}
	status := warning(6, "IntentDeployment", "status", "NoEffect", "status: is written by the control plane, and not taken from a file")
	off := warning(8, "IntentDeployment", "spec.gatesConfig.sloThresholds", "NoEffect", "spec.gatesConfig.sloThresholds: does nothing while spec.gatesConfig.enabled is false")
	skipped := strings.Replace(cli.BareBlueprint, "metadata: {name: a}", "metadata: {name: a, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}", 1)
	cases := map[string]struct {
		reason string
		in     string
		want   ValidationReport
	}{
		"Undeclared": {
			reason: "An object that an engine leaves alone has to be declared.", in: skipped,
			want: ValidationReport{Checked: 1, Warnings: []Finding{{
				File: "-", Document: 1, Line: 8, Kind: "Blueprint", Name: "web-1.0.0", Field: "spec.files", Reason: "Undeclared",
				Message: "spec.files: a.yaml: Service a: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it, so no Site can prove it: " +
					"remove the instruction, or declare the object in spec.unproven of the Blueprint",
			}}},
		},
		"Declared": {reason: "A declared object is not warned of.", in: skipped + "  unproven: [{kind: Service}]\n", want: ValidationReport{Checked: 1}},
		"Others": {
			reason: "Objects of other kinds are counted by their kind.",
			in:     namespace + "---\n" + cli.Claim + "---\n" + namespace, want: ValidationReport{Checked: 1, PassedOver: passed("v1", "Namespace", 2)},
		},
		"NearGroup": {
			reason: "A group that is nearly ours is warned of.",
			in:     in("claims.intentplane.de/v1alpha1"),
			want: ValidationReport{
				Warnings: group("claims.intentplane.de/v1alpha1"), PassedOver: passed("claims.intentplane.de/v1alpha1", "IntentDeployment", 1),
			},
		},
		"NearShared": {
			reason: "A kind that others have too is warned of in a group that is nearly ours.",
			in:     "apiVersion: catalog.intentplan.dev/v1alpha1\nkind: Site\nmetadata: {name: edge1}\n",
			want: ValidationReport{
				Warnings: []Finding{{
					File: "-", Document: 1, Line: 1, Kind: "Site", Name: "edge1", Field: "apiVersion", Reason: "OtherGroup",
					Message: `apiVersion: "catalog.intentplan.dev/v1alpha1" is not an API version of Intentplane, so the object was not looked at: did you mean catalog.intentplane.dev/v1alpha1?`,
				}},
				PassedOver: passed("catalog.intentplan.dev/v1alpha1", "Site", 1),
			},
		},
		"OtherDomain": {
			reason: "A kind that only we have is warned of in any group.",
			in:     in("tna.tna.ai/v1alpha1"),
			want:   ValidationReport{Warnings: group("tna.tna.ai/v1alpha1"), PassedOver: passed("tna.tna.ai/v1alpha1", "IntentDeployment", 1)},
		},
		"NoGroup": {
			reason: "A group that is missing is warned of.",
			in:     in("v1alpha1"), want: ValidationReport{Warnings: group("v1alpha1"), PassedOver: passed("v1alpha1", "IntentDeployment", 1)},
		},
		"Theirs": {
			reason: "A kind that others have too is not warned of.",
			in:     "apiVersion: aws.upbound.io/v1beta1\nkind: ProviderConfig\nmetadata: {name: a}\n",
			want:   ValidationReport{PassedOver: passed("aws.upbound.io/v1beta1", "ProviderConfig", 1)},
		},
		"Empty": {
			reason: "A file without objects is warned of.",
			in:     "", want: ValidationReport{Warnings: []Finding{{File: "-", Line: 1, Reason: "Empty", Message: "the file has no objects"}}},
		},
		"Comments": {
			reason: "A file of comments has no objects.",
			in:     "# a\n---\n# b\n",
			want:   ValidationReport{Warnings: []Finding{{File: "-", Line: 1, Reason: "Empty", Message: "the file has no objects"}}},
		},
		"Status": {
			reason: "A status has no effect in a file.",
			in:     cli.Claim + "status: {phase: Succeeded}\n", want: ValidationReport{Checked: 1, Warnings: status},
		},
		"GatesOff": {
			reason: "A threshold has no effect while gates are switched off.",
			in:     cli.Claim + "  gatesConfig:\n    enabled: false\n    sloThresholds: {error_rate: '<= 1'}\n",
			want:   ValidationReport{Checked: 1, Warnings: off},
		},
		"GatesOn": {
			reason: "A threshold has an effect while gates are switched on.",
			in:     cli.Claim + "  gatesConfig:\n    sloThresholds: {error_rate: '<= 1'}\n", want: ValidationReport{Checked: 1},
		},
		"Supported": {reason: "Each field of a configuration has an effect, so none is warned of.", in: config, want: ValidationReport{Checked: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(tc.in, "validate", "-", "-o", "json")
			got := ValidationReport{}
			if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
				t.Fatalf("\n%s\nrun(...): exit code %d: %v: %s%s", tc.reason, code, err, out, problems)
			}
			tc.want.Valid, tc.want.Findings = true, []Finding{}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrun(...): -want, +got:\n%s", tc.reason, diff)
			}
			strict := 0
			if len(tc.want.Warnings) > 0 {
				strict = terminal.ExitInvalid
			}
			if _, _, code := runIntent(tc.in, "validate", "-", "--strict"); code != strict {
				t.Errorf("\nWith --strict a warning is a mistake.\nrun(...): want exit code %d, got %d", strict, code)
			}
		})
	}
}

func TestWarningText(t *testing.T) {
	out, _, code := runIntent(strings.Replace(cli.Claim, "plane.dev", "plane.io", 1)+"---\na: 1\n", "validate", "-")
	const want = `-:1: IntentDeployment team-a/shop: warning: OtherGroup: apiVersion: "claims.intentplane.io/v1alpha1" is not an API version of Intentplane, ` +
		"so the object was not looked at: did you mean claims.intentplane.dev/v1alpha1 or intentplane.dev/v1alpha1?\n" +
		"0 objects, 0 mistakes, 1 warning; passed over: 1 without a kind, 1 IntentDeployment of claims.intentplane.io/v1alpha1\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Errorf("run(...): exit code %d: -want, +got:\n%s", code, diff)
	}
}
