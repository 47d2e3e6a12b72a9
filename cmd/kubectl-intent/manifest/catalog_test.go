package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const (
	claimsResource     = "intentdeployments.claims.intentplane.dev"
	namespacedResource = "intentdeployments.intentplane.dev"
)

func TestFromCluster(t *testing.T) {
	sites, blueprint, config, file := trialSites, examples+"20-blueprint.yaml", examples+"30-config.yaml", examples+"40-claim.yaml"
	want, _, code := runIntent("", "render", file, "--site", sites, "--blueprint", blueprint)
	if code != 0 || want == "" {
		t.Fatalf("run(...): exit code %d", code)
	}
	all := []string{sites, blueprint, config, file}
	namespaced := strings.Replace(cli.Claim, "claims.", "", 1)
	next := strings.Replace(cli.BareBlueprint, "metadata: {name: web-1.0.0}", "metadata: {name: web-2.0.0, labels: {blueprint: web, channel: next}}", 1)
	cases := map[string]struct {
		reason string
		in     string
		server cli.Server
		files  []string
		args   []string
		code   int
		says   string
	}{
		"Claim": {reason: "The objects can all be in the cluster.", files: all, args: []string{"render", "--claim", "shop"}},
		"Mixed": {reason: "A file replaces the applied object of its name.", files: all[:3], args: []string{"render", file, "--live"}},
		"SiteInFile": {
			reason: "An object of a file is not read from the cluster.",
			files:  all[1:], server: cli.Server{Denied: map[string]bool{"sites.catalog.intentplane.dev": true}},
			args: []string{"render", "--claim", "shop", "--site", sites},
		},
		"Resource": {
			reason: "A name may say its group.",
			files:  all, server: cli.Server{Objects: []*unstructured.Unstructured{cli.Parse(t, namespaced)}},
			args: []string{"render", "--claim", claimsResource + "/shop"},
		},
		"Channel": {
			reason: "Blueprints are selected by their labels.",
			files:  all, server: cli.Server{Objects: []*unstructured.Unstructured{cli.Parse(t, next)}}, args: []string{"render", "--claim", "shop"},
		},
		"OneGroup": {
			reason: "One of the two Configurations is enough.",
			files:  all, server: cli.Server{Absent: map[string]bool{namespacedResource: true}}, args: []string{"render", "--claim", "shop"},
		},
		"Namespace": {
			reason: "The namespace of a claim can be given with -n.",
			files:  all, args: []string{"render", "--claim", "shop", "--context", "b", "-n", "team-a"},
		},
		"NoNamespace": {
			reason: "A claim in a file is where kubectl would put it.",
			in:     strings.NewReplacer("namespace: team-a, ", "", `"shop"`, `"shop", "sites": ["edge1", "edge2"], "replicas": 2`).Replace(cli.Claim),
			files:  all[:3], args: []string{"render", "-", "--live"},
		},
		"OtherContext": {
			reason: "A deployment of another context is not found.",
			files:  all, args: []string{"render", "--claim", "shop", "--context", "b"}, code: terminal.ExitInvalid,
			says: `namespace "default" has no IntentDeployment "shop"`,
		},
		"Missing": {
			reason: "A deployment that does not exist is named.",
			files:  all, args: []string{"explain", "--claim", "shap"}, code: terminal.ExitInvalid,
			says: `namespace "team-a" has no IntentDeployment "shap"`,
		},
		"NotInstalled": {
			reason: "A cluster without Intentplane gets another message than an absent object.",
			files:  all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{claimsResource: true, namespacedResource: true}}, says: "is Intentplane installed there?",
		},
		"NoSites": {
			reason: "A catalog whose kind is not installed is named.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: cli.Server{Absent: map[string]bool{"sites.catalog.intentplane.dev": true}},
			says:   "cannot get sites.catalog.intentplane.dev/edge1: the cluster does not have sites.catalog.intentplane.dev in version v1alpha1",
		},
		"MayNotGet": {
			reason: "A forbidden kind is named.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: cli.Server{Denied: map[string]bool{"sites.catalog.intentplane.dev": true}},
			says: "cannot get sites.catalog.intentplane.dev/edge1: ask for the right to get it (examples/rbac has the roles), or give the object " +
				"in a file: ",
		},
		"MayNotList": {
			reason: "A kind that the user may not list is named.", files: all, args: []string{"validate", file, "--live"}, code: terminal.ExitInvalid,
			server: cli.Server{Denied: map[string]bool{"blueprints.catalog.intentplane.dev": true}},
			says: "cannot list blueprints.catalog.intentplane.dev: ask for the right to list them (examples/rbac has the roles), or give the " +
				"object in a file: ",
		},
		"MissingSite": {
			reason: "A missing Site is a finding, and not a failure to read.",
			files:  all[1:], args: []string{"validate", file, "--live", "-o", "json"}, code: terminal.ExitInvalid, says: `"reason": "SiteMissing"`,
		},
		"TwoGroups": {
			reason: "One name in two groups is ambiguous.", files: all, args: []string{"render", "--claim", "shop"}, code: terminal.ExitInvalid,
			server: cli.Server{Objects: []*unstructured.Unstructured{cli.Parse(t, namespaced)}},
			says:   "say " + claimsResource + "/shop or " + namespacedResource + "/shop",
		},
		"Both": {
			reason: "A file and a name are two things.",
			files:  all, args: []string{"render", file, "--claim", "shop"}, code: terminal.ExitUsage, says: "either a file or --claim",
		},
		"Neither": {
			reason: "A command needs either a file or a claim.",
			files:  all, args: []string{"explain"}, code: terminal.ExitUsage, says: "either a file or --claim",
		},
		"Context": {
			reason: "A context that does not exist is a mistake of the command line.",
			files:  all, args: []string{"render", "--claim", "shop", "--context", "c"}, code: terminal.ExitUsage,
			says: "context was not found for specified context: c",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kubeconfig := tc.server.Start(t, tc.files...)
			out, problems, code := runIntent(tc.in, append(tc.args, "--kubeconfig", kubeconfig)...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Fatalf("\n%s\nrun(%q): want %d and %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.says, code, out, problems)
			}
			if diff := cmp.Diff(want, out); code == 0 && diff != "" {
				t.Errorf("\n%s\nrun(%q): -from files, +from the cluster:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}
