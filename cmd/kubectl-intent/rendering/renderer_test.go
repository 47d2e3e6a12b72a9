package rendering_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/rendering"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/test/cli"
)

const (
	examples = "../../../examples/quickstart/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../../examples/trial/10-sites.yaml"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Blueprint offline.Blueprint `cmd:""`
	Explain   offline.Explain   `cmd:""`
	Render    offline.Render    `cmd:""`
	Validate  offline.Validate  `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// TestRefusedSpecs runs all commands on specs that the function refuses.
func TestRefusedSpecs(t *testing.T) {
	conflict := strings.Replace(cli.Claim, `"shop"}'`, `"shop", "sites": ["edge1"], "slos": {"latency_p99": "< 500ms"}}'`+"\n  gatesConfig: {sloThresholds: {latency_p99: 400ms}}", 1)
	wrong := strings.Replace(cli.Claim, `"shop"}'`, `"shop", "sites": ["edge1"]}'`+"\n  gatesConfig: {sloThresholds: {error_rate: '>= 5 %'}}", 1)
	oneSite := strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)
	quickstart := []string{"--site", trialSites, "--blueprint", examples + "20-blueprint.yaml"}
	limited := slices.Concat(quickstart[:4], []string{"--config", cli.WriteFile(t, cli.ThingsAllowed)})
	odd := []string{"--site", trialSites, "--blueprint", cli.WriteFile(t, strings.Replace(cli.RuledBlueprint, "SIZE", "3", 1)), "--config", cli.WriteFile(t, cli.ThingsAllowed)}
	server := cli.Server{}
	kubeconfig := server.Start(t, trialSites, examples+"20-blueprint.yaml", cli.WriteFile(t, cli.ThingsAllowed))
	cases := map[string]struct {
		reason  string
		in      string
		args    []string
		explain bool
		want    string
	}{
		"Conflict": {
			reason: "Two values for one metric are a conflict.",
			in:     conflict, args: quickstart, explain: true, want: `InvalidIntent: spec.gatesConfig.sloThresholds.latency_p99 says "400ms"`,
		},
		"WrongWay": {
			reason: "A threshold that points to the bad side of its metric is refused.",
			in:     wrong, args: quickstart, explain: true,
			want: `InvalidIntent: spec.gatesConfig.sloThresholds.error_rate: ">= 5%" points the wrong way`,
		},
		"Policy": {reason: "Limits of a configuration in a file hold.", in: oneSite, args: limited, want: "PolicyDenied: "},
		"PolicyLive": {
			reason: "The limits of a configuration in the cluster hold.",
			in:     oneSite, args: []string{"--live", "--kubeconfig", kubeconfig}, want: "PolicyDenied: ",
		},
		"Rule":        {reason: "Rules of a Blueprint's definitions hold.", in: oneSite, args: odd, want: `RenderFailed: Site "edge1": thing-a.yaml: `},
		"SiteMissing": {reason: "A Site has to be there.", in: strings.Replace(oneSite, "edge1", "edge9", 1), args: limited, explain: true, want: "SiteMissing: "},
		"AllAndOne": {
			reason: "A word for all Sites stands alone.",
			in:     strings.Replace(oneSite, `"edge1"`, `"all", "edge1"`, 1), args: quickstart, explain: true, want: "InvalidIntent: ",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			commands := [][]string{{"validate", "-"}, {"render", "-"}, {"render", "-", "--diff", t.TempDir()}, {"render", "-", "--to", filepath.Join(t.TempDir(), "to")}}
			if tc.explain {
				commands = append(commands, []string{"explain", "-"})
			}
			for _, command := range commands {
				out, problems, code := runIntent(tc.in, append(command, tc.args...)...)
				if code != terminal.ExitInvalid || !strings.Contains(out+problems, tc.want) {
					t.Errorf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, command, terminal.ExitInvalid, tc.want, code, out, problems)
				}
			}
		})
	}
}

// TestReasons compares the reason without configurations with the reason in a condition.
func TestReasons(t *testing.T) {
	cases := map[string]struct {
		reason    string
		timeout   string
		blueprint string
		want      string
	}{
		"Fine": {reason: "A Blueprint that renders has no reason for a failure.", timeout: "10s", blueprint: examples + "20-blueprint.yaml"},
		"Timeout": {
			reason:  "A render that takes too long may succeed another time.",
			timeout: "1ns", blueprint: examples + "20-blueprint.yaml", want: deploymentv1alpha1.ReasonRenderTimeout,
		},
		"Spec": {
			reason:  "A render timeout has to be a duration.",
			timeout: "soon", blueprint: examples + "20-blueprint.yaml", want: deploymentv1alpha1.ReasonInvalidSpec,
		},
		"Failed": {
			reason:  "A Blueprint that breaks a rule of the policy failed to render.",
			timeout: "10s", blueprint: cli.WriteFile(t, strings.Replace(cli.RuledBlueprint, "SIZE", "3", 1)),
			want: deploymentv1alpha1.ReasonRenderFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			flags := manifest.DeploymentFlags{File: "-", CatalogFlags: manifest.CatalogFlags{Site: []string{trialSites}, Blueprint: []string{tc.blueprint}}}
			claims, from, err := flags.LoadDeployments(strings.NewReader(strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)))
			if err != nil {
				t.Fatal(err)
			}
			in, compiled, err := from.CompileDeployment(&claims[0])
			if err != nil {
				t.Fatal(err)
			}
			in.Spec.CompileConfig.RenderTimeout = tc.timeout
			_, err = rendering.NewRenderer().RenderSites(false, in, compiled)
			if diff := cmp.Diff(tc.want, compile.ReasonOf(err)); diff != "" {
				t.Errorf("\n%s\nplaces(...): %v: -want reason, +got reason:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestWaiting renders for a Site whose cluster is not known to be ready.
func TestWaiting(t *testing.T) {
	b, err := os.ReadFile(trialSites)
	if err != nil {
		t.Fatal(err)
	}
	site := cli.WriteFile(t, strings.Replace(string(b), "controlPlane: {}", "clusterRef: {name: edge1}", 1))
	checkout := t.TempDir()
	cli.LeaveDirectory(t, checkout, "clusters/edge1/team-a/shop", "demo", "shop")
	oneSite := strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)
	catalog := []string{"--site", site, "--blueprint", examples + "20-blueprint.yaml"}
	for _, args := range [][]string{catalog, append(catalog, "--config", examples+"30-config.yaml")} {
		if out, problems, code := runIntent(oneSite, append([]string{"render", "-"}, args...)...); code != 0 || !strings.Contains(out, "receives nothing before its cluster is known to be ready") || strings.Contains(out, "kind:") {
			t.Errorf("The Site receives nothing: exit code %d:\n%s%s", code, out, problems)
		}
		if out, problems, code := runIntent(oneSite, append([]string{"render", "-", "--diff", checkout}, args...)...); code != 0 {
			t.Errorf("Its directory stays as it is: exit code %d:\n%s%s", code, out, problems)
		}
	}
}

func TestRenderRemoved(t *testing.T) {
	catalog := []string{"--site", trialSites, "--blueprint", examples + "20-blueprint.yaml"}
	oneSite := strings.Replace(cli.Claim, `"shop"}`, `"shop", "sites": ["edge1"]}`, 1)
	cases := map[string]struct {
		reason             string
		dir, control, name string
		args               []string
		want               bool
	}{
		"Left": {
			reason: "A Site is not chosen any more.",
			dir:    "clusters/edge2/team-a/shop", control: "demo", name: "shop", args: []string{"--config", examples + "30-config.yaml"}, want: true,
		},
		"Unlimited": {
			reason: "Without a configuration every control plane may be ours.",
			dir:    "clusters/edge2/team-a/shop", control: "any", name: "shop", want: true,
		},
		"Moved": {
			reason: "A directory that its Site used before is reported as removed.",
			dir:    "old/edge1/team-a/shop", control: "demo", name: "shop", want: true,
		},
		"OtherControl": {
			reason: "A directory of another installation is not reported as removed.",
			dir:    "clusters/edge2/team-a/shop", control: "test", name: "shop", args: []string{"--config", examples + "30-config.yaml"},
		},
		"OtherClaim": {reason: "Directories of another deployment are not the owner's.", dir: "clusters/edge2/team-a/shop", control: "demo", name: "bank"},
		"Copy":       {reason: "A copy in another directory is not reported as removed.", dir: "copies/shop", control: "demo", name: "shop"},
		"Git":        {reason: "The folder of git is not in the checkout.", dir: ".git/clusters/team-a/shop", control: "demo", name: "shop"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			checkout, emptyCheckout := t.TempDir(), t.TempDir()
			cli.LeaveDirectory(t, checkout, tc.dir, tc.control, tc.name)
			args := append([]string{"render", "-"}, append(catalog[:4:4], tc.args...)...)
			alone, _, _ := runIntent(oneSite, append(args, "--diff", emptyCheckout)...)
			out, problems, code := runIntent(oneSite, append(args, "--diff", checkout)...)
			if code != terminal.ExitInvalid || problems != "" {
				t.Fatalf("\n%s\nrun(...): exit code %d:\n%s%s", tc.reason, code, out, problems)
			}
			got := strings.Replace(out, alone, "", 1)
			if says := strings.Contains(got, "--- a/"+tc.dir+"/a.yaml\n+++ /dev/null\n") && strings.Contains(got, "--- a/"+tc.dir+"/.intentplane\n"); says != tc.want || !tc.want && got != "" {
				t.Errorf("\n%s\nrun(...): want it removed: %v, got:\n%s", tc.reason, tc.want, got)
			}
		})
	}
}
