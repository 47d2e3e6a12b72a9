package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

func TestCompletion(t *testing.T) {
	server := cli.Server{}
	kubeconfig := server.Start(t, examples+"40-claim.yaml", "../../examples/namespaced/deployment.yaml", "../../examples/bundles/existing.yaml")
	cases := map[string]struct {
		reason string
		words  []string
		want   string
	}{
		"Commands": {
			reason: "Commands are completed in the first place.",
			words:  []string{""},
			want: "abort approve artifacts blueprint blueprints completion diff digest doctor explain history import logs look promote prune " +
				"refresh render retry rollback sites state status validate version wait why :4",
		},
		"Nothing": {
			reason: "A missing word counts as an empty word.",
			want: "abort approve artifacts blueprint blueprints completion diff digest doctor explain history import logs look promote prune " +
				"refresh render retry rollback sites state status validate version wait why :4",
		},
		"Begun":  {reason: "The typed part of a word is completed.", words: []string{"blueprint", "c"}, want: "create :4"},
		"Flag":   {reason: "Flags of a command are completed.", words: []string{"render", "--pa"}, want: "--path-prefix :4"},
		"Values": {reason: "The closed values of a flag are completed.", words: []string{"validate", "-o", ""}, want: "json text yaml :4"},
		"Joined": {reason: "The value of a flag is completed behind an equals sign.", words: []string{"validate", "--output=y"}, want: "--output=yaml :4"},
		"CreateValues": {
			reason: "Each command completes the values of its own flags.",
			words:  []string{"blueprint", "create", "--output", ""}, want: "json yaml :4",
		},
		"Shells":   {reason: "Arguments from a closed list are completed, too.", words: []string{"completion", "f"}, want: "fish :4"},
		"Files":    {reason: "The names of files are left to the shell.", words: []string{"validate", "a"}, want: ":0"},
		"FlagFile": {reason: "Files of a flag are left to the shell.", words: []string{"render", "--site", "10"}, want: ":0"},
		"Claims": {
			reason: "Deployments are known where there is a cluster.",
			words:  []string{"render", "--kubeconfig", kubeconfig, "--claim", ""}, want: "bank shop :4",
		},
		"ClaimsJoined": {
			reason: "Claims are completed with flags that are joined by an equals sign.",
			words:  []string{"explain", "--live", "--kubeconfig=" + kubeconfig, "--claim=s"}, want: "--claim=shop :4",
		},
		"ClaimsElse": {
			reason: "In the namespace that was said.",
			words:  []string{"explain", "--kubeconfig=" + kubeconfig, "-n", "team-b", "--inputs", "--claim", ""}, want: ":0",
		},
		"ClaimsAsked": {
			reason: "Deployments are completed for commands that make a request about a deployment.",
			words:  []string{"rollback", "--kubeconfig=" + kubeconfig, ""}, want: "bank shop :4",
		},
		"Subjects": {
			reason: "Bundles are completed where a command takes them.",
			words:  []string{"status", "--kubeconfig=" + kubeconfig, ""}, want: "bank reports shop :4",
		},
		"SubjectsOfWhy": {reason: "The typed part of a Bundle's name is completed.", words: []string{"why", "--kubeconfig=" + kubeconfig, "re"}, want: "reports :4"},
		"Bundles": {
			reason: "Bundles alone are completed for a command that takes no other kind.",
			words:  []string{"prune", "--kubeconfig=" + kubeconfig, ""}, want: "reports :4",
		},
		"ClaimsNowhere": {reason: "A missing cluster costs nothing.", words: []string{"explain", "--kubeconfig", "/nowhere", "--claim", ""}, want: ":0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			if err := completeWords(tc.words, out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, strings.Join(strings.Fields(out.String()), " ")); diff != "" {
				t.Errorf("\n%s\ncompleteWords(%q): -want, +got:\n%s", tc.reason, tc.words, diff)
			}
		})
	}
}

// TestCompletionOfShells lets a real bash complete, as far as it can without a terminal.
func TestCompletionOfShells(t *testing.T) {
	script, _, code := runIntent("", "completion", "bash")
	if code != 0 {
		t.Fatalf("run(...): exit code %d", code)
	}
	bash := exec.CommandContext(t.Context(), "bash", "--norc", "-c", script+"complete -p kubectl-intent")
	got, err := bash.CombinedOutput()
	if diff := cmp.Diff(script, strings.ReplaceAll(string(got), "'", "")); err != nil || diff != "" {
		t.Errorf("The printed command is the command that bash registers: %v: -printed, +registered:\n%s", err, diff)
	}
	t.Setenv(lineToComplete, "kubectl-intent blueprint t")
	out := &bytes.Buffer{}
	if err := completeLine(out); err != nil || out.String() != "test\n" {
		t.Errorf("completeLine(...): want test, got %q: %v", out, err)
	}
	for _, shell := range []string{"zsh", "fish"} {
		if script, _, code := runIntent("", "completion", shell); code != 0 || !strings.Contains(script, "kubectl-intent") {
			t.Errorf("%s: exit code %d: %s", shell, code, script)
		}
	}
}

func TestPainted(t *testing.T) {
	const (
		red, green, cyan, bold = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m"
	)
	catalog := []string{"--site", trialSites, "--blueprint", examples + "20-blueprint.yaml"}
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   []string
	}{
		"Diff": {
			reason: "A diff looks as git's does.",
			args:   append([]string{"render", examples + "40-claim.yaml", "--diff", t.TempDir()}, catalog...),
			want:   []string{bold + "+++ b/", cyan + "@@", green + "+kind: Service"},
		},
		"Mistakes": {
			reason: "Mistakes are printed in red.",
			in:     strings.Replace(cli.Claim, "intent:", "intnt:", 1), args: []string{"validate", "-"},
			want: []string{red + "InvalidSpec", red + "1 object"},
		},
		"Fine": {
			reason: "An object without mistakes is printed in green.",
			in:     cli.Claim, args: []string{"validate", "-"}, want: []string{green + "1 object, 0 mistakes"},
		},
		"Example": {reason: "A Blueprint's example that renders is green.", args: []string{"blueprint", "test", blueprints + "batch"}, want: []string{green + "ok"}},
		"Fails": {
			reason: "An example that fails is printed in red.",
			in:     cli.BareBlueprint + "  examples: [{intent: '{\"service\": \"a\"}'}]\n", args: []string{"blueprint", "test", "-"},
			want: []string{red + "failed"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, colours := range []terminal.Palette{true, false} {
				out := &bytes.Buffer{}
				runCommand(tc.args, &terminal.Streams{In: strings.NewReader(tc.in), Out: out, Colours: colours}, &bytes.Buffer{})
				for _, want := range tc.want {
					if strings.Contains(out.String(), want) != bool(colours) {
						t.Errorf("\n%s\nrun(%q) with colours %v: %q, got:\n%s", tc.reason, tc.args, colours, want, out)
					}
				}
				if !bool(colours) && strings.Contains(out.String(), "\x1b") {
					t.Errorf("\n%s\nrun(%q) without colours:\n%q", tc.reason, tc.args, out)
				}
			}
			form := &bytes.Buffer{}
			runCommand(append(tc.args, "-o", "json"), &terminal.Streams{In: strings.NewReader(tc.in), Out: form, Colours: true}, &bytes.Buffer{})
			if !json.Valid(form.Bytes()) || strings.Contains(form.String(), `\u001b`) {
				t.Errorf("\n%s\nrun(%q) as JSON: got:\n%s", tc.reason, tc.args, form)
			}
		})
	}
}

func TestClusterArgs(t *testing.T) {
	cases := map[string]struct {
		reason string
		words  []string
		want   []string
	}{
		"Value": {
			reason: "A flag of a cluster goes with its value.",
			words:  []string{"status", "-n", "team-a", "--server=https://a"}, want: []string{"-n", "team-a", "--server=https://a"},
		},
		"Bool": {
			reason: "A flag without a value goes alone, and takes no word after it.",
			words:  []string{"status", "--insecure-skip-tls-verify", "shop"}, want: []string{"--insecure-skip-tls-verify"},
		},
		"Help":    {reason: "Help would answer instead of the cluster.", words: []string{"status", "--help", "-h"}, want: []string{}},
		"Foreign": {reason: "A flag of the command alone is left out.", words: []string{"history", "--revision", "2", "--watch"}, want: []string{}},
		"Cut":     {reason: "A flag whose value is being typed has none.", words: []string{"status", "--context"}, want: []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parser, err := kong.New(&connection.Flags{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, clusterArgs(parser, tc.words)); diff != "" {
				t.Errorf("\n%s\nclusterArgs(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
