package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Blueprint offline.Blueprint `cmd:""`
	Digest    offline.Digest    `cmd:""`
	Explain   offline.Explain   `cmd:""`
	Render    offline.Render    `cmd:""`
	Validate  offline.Validate  `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// TestLineEnds runs commands whose messages have several lines.
func TestLineEnds(t *testing.T) {
	sentence := strings.Replace(cli.Claim, `'{"service": "shop"}'`, `deplyo shop on edge1`, 1)
	for _, tc := range []struct{ command, in string }{{"validate", sentence}, {"explain", sentence}} {
		out, problems, code := runIntent(tc.in, tc.command, "-")
		if all := out + problems; code != terminal.ExitInvalid || strings.Contains(all, `\n`) || !strings.Contains(all, "\n  ") {
			t.Errorf("A line end of a message of ours is a line end: %s: exit code %d:\n%s", tc.command, code, all)
		}
	}
}

// TestForgery lets each command print a text of another user.
func TestForgery(t *testing.T) {
	const evil = `a\n::error ::\u001b[31mforged\u009b`
	field := strings.Replace(cli.Claim, "spec:", "spec:\n  \""+evil+"\": 1", 1)
	named := strings.NewReplacer("team-a", `"`+evil+`"`, "name: shop", `name: "`+evil+`"`).Replace(cli.Claim)
	blueprint := strings.Replace(cli.BareBlueprint, "name: web-1.0.0", `name: "`+evil+`"`, 1) + "  examples: [{intent: '{\"service\": \"a\"}'}]\n"
	folder := t.TempDir()
	t.Chdir(folder)
	checkout := filepath.Join(folder, "checkout")
	cli.LeaveDirectory(t, checkout, "clusters/edge2/team-a/shop", "demo", "shop")
	const content = "a: \u202eb\n"
	if err := os.WriteFile(filepath.Join(checkout, "clusters/edge2/team-a/shop", "a\n::error ::\x1bb"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	says := []string{`--- a/clusters/edge2/team-a/shop/a\n::error ::\x1bb`, `-a: \u202eb`}
	if err := os.WriteFile("::error ::forged", []byte("a: ["), 0o600); err != nil {
		t.Fatal(err)
	}
	oneSite := cli.WriteFile(t, strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1))
	inputs := strings.Replace(cli.RuledBlueprint, "    kustomization.yaml:", `    b.txt: "a\r\e[31m"`+"\n    kustomization.yaml:", 1)
	cases := map[string]struct {
		in   string
		args []string
		says []string
	}{
		"Finding": {in: field, args: []string{"validate", "-"}},
		"Object":  {in: named, args: []string{"validate", "-"}},
		"Kind":    {in: strings.Replace(cli.Claim, "kind: IntentDeployment", `kind: "`+evil+`"`, 1), args: []string{"validate", "-"}},
		"File":    {args: []string{"validate", "::error ::forged"}},
		"NoFile":  {args: []string{"validate", "::error ::\x1bforged"}},
		"Error":   {in: field, args: []string{"digest", "-"}},
		"Digest":  {in: named + "---\n" + named, args: []string{"digest", "-"}},
		"Explain": {in: named, args: []string{"explain", "-"}},
		"Key": {
			args: []string{
				"explain", oneSite, "--site", cli.WriteFile(t, aSite), "--blueprint",
				cli.WriteFile(
					t,
					strings.Replace(
						cli.RuledBlueprint, "    kustomization.yaml:",
						"    intent.yaml: '{apiVersion: v1, kind: ConfigMap, metadata: {name: intent}, data: {\""+evil+"\": a}}'\n    kustomization.yaml:", 1,
					),
				),
			},
		},
		"Blueprint": {in: blueprint, args: []string{"blueprint", "test", "-"}},
		"Diff": {
			args: []string{
				"render", oneSite, "--site", cli.WriteFile(t, aSite), "--blueprint",
				cli.WriteFile(t, strings.Replace(cli.RuledBlueprint, "SIZE", "4", 1)), "--diff", checkout,
			},
			says: says,
		},
		"Inputs": {
			args: []string{
				"render", oneSite, "--site", cli.WriteFile(t, aSite), "--blueprint", cli.WriteFile(t, strings.Replace(inputs, "SIZE", "4", 1)),
				"--inputs",
			},
		},
		"Flag": {args: []string{"validate", "--\x1b[31m\n::error ::forged"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, _ := runIntent(tc.in, tc.args...)
			out += problems
			if !strings.Contains(out, `\x1b`) && !strings.Contains(out, `\u001b`) && !strings.Contains(out, `\::error`) {
				t.Errorf("run(%q): the error is not shown:\n%q", tc.args, out)
			}
			for _, want := range tc.says {
				if !strings.Contains(out, want) {
					t.Errorf("run(%q): want %q in:\n%s", tc.args, want, out)
				}
			}
			for line := range strings.Lines(out) {
				if strings.ContainsAny(line, "\x1b\u009b\r") || strings.HasPrefix(strings.TrimSpace(line), "::") {
					t.Errorf("run(%q): forged: %q", tc.args, line)
				}
			}
		})
	}
}

const aSite = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Site
metadata: {name: edge1}
spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: clusters/edge1}, allowedNamespaces: [team-a]}
`
