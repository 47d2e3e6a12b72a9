package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const (
	examples   = "../../../examples/quickstart/"
	blueprints = "../../../examples/blueprints/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../../examples/trial/10-sites.yaml"
)

// commands are the commands of this package, by the names that they have in the program.
type commands struct {
	Blueprint Blueprint `cmd:""`
	Digest    Digest    `cmd:""`
	Explain   Explain   `cmd:""`
	Import    Import    `cmd:""`
	Render    Render    `cmd:""`
	Validate  Validate  `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

func TestExitCodes(t *testing.T) {
	sites, blueprint := "--site="+trialSites, "--blueprint="+examples+"20-blueprint.yaml"
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   int
		says   string
	}{
		"Valid": {
			reason: "Valid objects end the command with exit code 0.",
			args: []string{
				"validate", trialSites, examples + "20-blueprint.yaml", examples + "30-config.yaml", examples + "40-claim.yaml",
			},
			says: "5 objects, 0 mistakes",
		},
		"ValidCompiled": {
			reason: "A claim that compiles with the catalog is valid.",
			args:   []string{"validate", examples + "40-claim.yaml", sites, blueprint, "--config=" + examples + "30-config.yaml"},
			says:   "1 object, 0 mistakes",
		},
		"Invalid": {
			reason: "An invalid object ends with 1, and the message names it.",
			in:     strings.Replace(cli.Claim, "intent:", "intnt:", 1), args: []string{"validate", "-"}, want: terminal.ExitInvalid,
			says: `-:5: IntentDeployment team-a/shop: InvalidSpec: spec.intnt: is not a field of this kind`,
		},
		"InvalidIntent": {
			reason: "An intent with an unknown field is invalid.",
			in:     strings.Replace(cli.Claim, `"service"`, `"servce"`, 1), args: []string{"validate", "-"}, want: terminal.ExitInvalid,
			says: "InvalidIntent",
		},
		"InvalidSite": {
			reason: "A claim for a Site outside of the catalog is invalid.",
			in:     strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge9"}`, 1), args: []string{"validate", "-", sites, blueprint},
			want: terminal.ExitInvalid, says: "SiteMissing",
		},
		"NoBlueprint": {
			reason: "A missing Blueprint is reported with the existing Blueprints.",
			in:     strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "type": "wep"}`, 1),
			args:   []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid,
			says: `BlueprintMissing: Blueprint wep in channel "stable" does not exist: did you mean "web" instead of "wep"?`,
		},
		"InvalidRender": {
			reason: "A parameter that the Blueprint does not take is invalid.",
			in:     strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "parameters": {"a": "b"}}`, 1),
			args:   []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid, says: "RenderFailed",
		},
		"UnreadValue": {
			reason: "A value that the Blueprint does not read is refused with its field.",
			in:     strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "qos": {"latencyMs": 5}}`, 1),
			args:   []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid,
			says: `-:5: IntentDeployment team-a/shop: NotSupportedByBlueprint: spec.intent: qos.latencyMs: Blueprint "web-1.0.0" does not read this value`,
		},
		"InvalidYAML": {reason: "A file that is not YAML is invalid.", in: "a: [", args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: "1 mistake"},
		"InvalidSecond": {
			reason: "A line is that of the file.",
			in:     cli.Claim + "---\nkind: a\nb: [\n", args: []string{"validate", "-"}, want: terminal.ExitInvalid,
			says: "-:8: InvalidSpec: yaml: line 8: did not find expected node content\n",
		},
		"Twice": {
			reason: "A field that comes twice is one mistake on one line.",
			in:     "---\na: 1\na: 2\n", args: []string{"validate", "-"}, want: terminal.ExitInvalid,
			says: "-:3: InvalidSpec: yaml: unmarshal errors: line 3: key \"a\" already set in map\n",
		},
		"OtherKinds": {
			reason: "Objects of other projects are not checked.",
			in:     "apiVersion: v1\nkind: Namespace\n", args: []string{"validate", "-"}, says: "0 objects, 0 mistakes",
		},
		"UnknownFlag": {reason: "A wrong command line is 2.", args: []string{"validate", "-", "--sites"}, want: terminal.ExitUsage},
		"UnknownForm": {reason: "An unknown output format is a mistake in the command.", args: []string{"validate", "-", "-o", "xml"}, want: terminal.ExitUsage},
		"NoFile": {
			reason: "A missing file is a mistake.",
			args:   []string{"validate", "nowhere.yaml"}, want: terminal.ExitInvalid, says: "nowhere.yaml:1: Unreadable: cannot read file: ",
		},
		"NoSiteFile": {
			reason: "A missing file that applies to all objects makes a wrong command line.",
			args:   []string{"validate", "-", "--site", "nowhere.yaml", blueprint}, want: terminal.ExitUsage,
		},
		"HalfACatalog": {reason: "Sites without a Blueprint are a mistake in the command.", args: []string{"validate", "-", sites}, want: terminal.ExitUsage},
		"BlueprintTest": {
			reason: "Examples that render end the command with exit code 0.",
			args:   []string{"blueprint", "test", blueprints + "web-1.1.0.yaml"}, says: "web-1.1.0 spec.examples[0] ok: 7 files for Site edge1",
		},
		"BlueprintReads": {
			reason: "The values that a Blueprint reads are listed.", args: []string{"blueprint", "test", blueprints + "adopted"},
			says: "test-0.0.0 reads cpu, image, memory, replicas\ntest-0.0.0 spec.examples[0] ok",
		},
		"BlueprintDir": {
			reason: "A directory can be tested before it is made a Blueprint.",
			args:   []string{"blueprint", "test", blueprints + "batch"}, says: "spec.examples[1] ok",
		},
		"NoExamples": {
			reason: "Nothing to test is not success.",
			in:     cli.BareBlueprint, args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid,
			says: "web-1.0.0 reads nothing\nweb-1.0.0 spec.examples failed: no example exists: add an intent to examples",
		},
		"Nothing": {reason: "Without a command the usage is printed, as kubectl does.", says: "Usage: kubectl-intent <command>"},
		"BlueprintFails": {
			reason: "The failed example is named, with its error.",
			in:     cli.BareBlueprint + "  examples: [{intent: '{\"service\": \"a\"}'}]\n", args: []string{"blueprint", "test", "-"},
			want: terminal.ExitInvalid, says: "web-1.0.0 spec.examples[0] failed:",
		},
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

func TestValidateFindings(t *testing.T) {
	in := strings.Replace(cli.Claim, "spec:", "spec:\n  suspend: 3", 1) + "---\n" + strings.Replace(cli.Claim, "team-a", "team-b", 1) + "---\n" + cli.BareBlueprint + "  examples: [{intent: '{\"service\": \"a\"}'}]\n"
	out, _, code := runIntent(in, "validate", "-", "-o", "json")
	got := ValidationReport{}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != terminal.ExitInvalid {
		t.Fatalf("run(...): exit code %d, %v:\n%s", code, err, out)
	}
	want := ValidationReport{Checked: 3, Findings: []Finding{{
		File: "-", Document: 1, Line: 5, Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", Field: "spec.suspend", Reason: "InvalidSpec",
		Message: `spec.suspend: Invalid value: "integer": spec.suspend in body must be of type boolean: "integer"`,
	}, {
		File: "-", Document: 3, Line: 24, Kind: "Blueprint", Name: "web-1.0.0", Field: "spec.examples[0]", Reason: "RenderFailed",
		Message: `service-a.yaml: Service "a": spec.port: is not a field of this kind`,
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Findings name file, document, object, field and reason: -want, +got:\n%s", diff)
	}
}
