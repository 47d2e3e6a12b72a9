package rendering_test

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestRulesOfBlueprints(t *testing.T) {
	odd := strings.Replace(cli.RuledBlueprint, "SIZE", "3", 1)
	atSite := strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   int
		says   string
	}{
		"Test": {
			reason: "An example that breaks a rule fails.",
			in:     odd, args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid,
			says: `failed: thing-a.yaml: Thing.x.org "a": Invalid value: must be even`,
		},
		"Kept": {
			reason: "A value that keeps the rule is valid.",
			in:     strings.Replace(cli.RuledBlueprint, "SIZE", "4", 1), args: []string{"blueprint", "test", "-"}, says: "ok",
		},
		"Validate": {
			reason: "An object of a Blueprint that breaks its definition's rule is a finding.",
			in:     odd, args: []string{"validate", "-"}, want: terminal.ExitInvalid,
			says: `-:8: Blueprint web-1.0.0: RenderFailed: thing-a.yaml: Thing.x.org "a": Invalid value: must be even`,
		},
		"Claim": {
			reason: "A claim that renders to an object that breaks a rule is a finding.",
			in:     atSite, args: []string{"validate", "-", "--site", trialSites, "--blueprint", cli.WriteFile(t, odd)},
			want: terminal.ExitInvalid, says: `RenderFailed: Site "edge1": thing-a.yaml: Thing.x.org "a": Invalid value: must be even`,
		},
		"Limited": {
			reason: "Rules hold with the limits of a configuration too.",
			in:     atSite,
			args: []string{
				"validate", "-", "--site", trialSites, "--blueprint", cli.WriteFile(t, odd), "--config",
				cli.WriteFile(t, cli.ThingsAllowed),
			},
			want: terminal.ExitInvalid, says: `RenderFailed: Site "edge1": thing-a.yaml: Thing.x.org "a": Invalid value: must be even`,
		},
		"BadRule": {
			reason: "A rule that cannot be compiled fails the test.",
			in:     strings.Replace(odd, "self.size % 2", "self.size %% 2", 1), args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: "failed",
		},
		"NoSchema": {
			reason: "A definition without a schema is not usable.",
			in:     strings.Replace(odd, "schema: {openAPIV3Schema", "schemas: {openAPIV3Schema", 1), args: []string{"blueprint", "test", "-"},
			want: terminal.ExitInvalid, says: `failed: spec.files: cannot use CustomResourceDefinition "things.x.org": version v1 has no schema`,
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
