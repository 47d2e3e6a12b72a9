package live

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// TestOffers shows the Sites and Blueprints for a namespace: the catalog of the quickstart, and a Site of another
// namespace.
func TestOffers(t *testing.T) {
	const catalog = `{apiVersion: v1, kind: ConfigMap, metadata: {name: intentplane-catalog, namespace: team-a}, data: {sites.json: '{"items":[{"name":"edge7","engine":"Flux"}],"omitted":2}'}}`
	const foreign = `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: foreign}, spec: {allowedNamespaces: [team-b], cluster: {controlPlane: {}}, engine: {type: Flux}, repository: {path: p}}}`
	cases := map[string]struct {
		reason string
		args   []string
		denied string
		// published says that the namespace has the ConfigMap of the provider, with other Sites and no Blueprints.
		published bool
		code      int
		says      []string
		not       string
	}{
		"Sites": {
			reason: "The Sites that the namespace may use are shown, and no others.",
			args:   []string{"sites"}, says: []string{"NAME   ENGINE", "edge1", "edge2"}, not: "foreign",
		},
		"Foreign": {reason: "Another namespace sees its own.", args: []string{"sites", "-n", "team-b"}, says: []string{"foreign"}, not: "edge1"},
		"NoSites": {
			reason: "A namespace that may use no Site gets a line about it.",
			args:   []string{"sites", "-n", "team-c"}, says: []string{"No Site may be used from namespace team-c."},
		},
		"SitesJSON": {reason: "A script gets the Sites.", args: []string{"sites", "-o", "json"}, says: []string{`"name": "edge1"`, `"engine": `}},
		"SitesDenied": {
			reason: "A user who may not list Sites sees the Sites in use, and the command to ask for more.",
			args:   []string{"sites"}, denied: "sites.catalog.intentplane.dev",
			says: []string{
				"edge1", "Not read: sites.catalog.intentplane.dev: the user may not read them",
				"kubectl create configmap intentplane-catalog -n team-a",
			},
			not: "ENGINE",
		},
		"Wide": {
			reason: "A wide list has the labels by which a deployment selects Sites.",
			args:   []string{"sites", "-o", "wide"}, says: []string{"LABELS", "region="},
		},
		"Names": {
			reason: "The names of Sites are valid for kubectl.",
			args:   []string{"sites", "-o", "name"}, says: []string{"site.catalog.intentplane.dev/edge1\nsite.catalog.intentplane.dev/edge2\n"},
			not: "NAME",
		},
		"Published": {
			reason: "A user who may not list Sites reads the Sites that the provider publishes in the namespace.",
			args:   []string{"sites"}, denied: "sites.catalog.intentplane.dev", published: true,
			says: []string{"edge7  Flux", "The provider publishes this in ConfigMap team-a/intentplane-catalog", "2 more may be used"}, not: "edge1",
		},
		"PublishedJSON": {
			reason: "A script reads where the Sites come from.",
			args:   []string{"sites", "-o", "json"}, denied: "sites.catalog.intentplane.dev", published: true,
			says: []string{`"configMap": "team-a/intentplane-catalog"`, `"omitted": 2`},
		},
		"Unpublished": {
			reason: "A user who may not list Blueprints, before the first publication, reads the Blueprints in use and the command to ask for more.",
			args:   []string{"blueprints"}, denied: "blueprints.catalog.intentplane.dev", published: true,
			says: []string{"kubectl create configmap intentplane-catalog -n team-a"}, not: "greeting",
		},
		"Live": {
			reason: "A user who may list Sites does not read the published list, which another user could have changed.",
			args:   []string{"sites"}, published: true, says: []string{"edge1"}, not: "edge7",
		},
		"WideBlueprints": {
			reason: "A wide list of Blueprints has their defaults and the names of the objects.",
			args:   []string{"blueprints", "-o", "wide"}, says: []string{"DEFAULTS", "web-1.0.0", "replicas=1"},
		},
		"BlueprintNames": {
			reason: "The names of Blueprints are valid for kubectl.",
			args:   []string{"blueprints", "-o", "name"}, says: []string{"blueprint.catalog.intentplane.dev/web-1.0.0"},
		},
		"Blueprints": {
			reason: "The list has each Blueprint, with the names of its parameters.",
			args:   []string{"blueprints"}, says: []string{"NAME  VERSION  CHANNEL  TYPES", "web   1.0.0    stable   web", "greeting"},
		},
		"Blueprint": {
			reason: "A named Blueprint is shown with its parameters and defaults.",
			args:   []string{"blueprints", "web"}, says: []string{"PARAMETER  TYPE    DEFAULT", "greeting   string  Hello", "VALUE", "replicas  1"},
		},
		"BlueprintYAML": {
			reason: "A script gets the parameters.",
			args:   []string{"blueprints", "web-1.0.0", "-o", "yaml"}, says: []string{"default: Hello", "name: greeting"},
		},
		"NoBlueprint": {
			reason: "A name that no Blueprint has is an error.",
			args:   []string{"blueprints", "wab"}, code: terminal.ExitInvalid, says: []string{"no Blueprint wab was found"},
		},
		"Denied": {
			reason: "A user who may not list Blueprints sees the Blueprints in use.",
			args:   []string{"blueprints"}, denied: "blueprints.catalog.intentplane.dev",
			says: []string{"Not read: blueprints.catalog.intentplane.dev"}, not: "greeting",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &cli.Server{Denied: map[string]bool{tc.denied: true}}
			server.Objects = append(server.Objects, cli.Parse(t, foreign))
			if tc.published {
				server.Objects = append(server.Objects, cli.Parse(t, catalog))
			}
			objects, err := samples.Verified().Objects()
			if err != nil {
				t.Fatal(err)
			}
			server.Objects = append(server.Objects, objects...)
			kubeconfig := server.Start(t, trialSites, examples+"20-blueprint.yaml")
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", kubeconfig)...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nrun(%q): want %d and not %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, want, out, problems)
				}
			}
		})
	}
}
