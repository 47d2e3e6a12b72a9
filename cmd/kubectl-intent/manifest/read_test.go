package manifest_test

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/offline"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const (
	examples   = "../../../examples/quickstart/"
	blueprints = "../../../examples/blueprints/"

	// trialSites are the Sites of the quickstart without an engine.
	trialSites = "../../../examples/trial/10-sites.yaml"
)

// commands are the commands that the tests run, by the names that they have in the program.
type commands struct {
	Digest   offline.Digest   `cmd:""`
	Explain  offline.Explain  `cmd:""`
	Render   offline.Render   `cmd:""`
	Validate offline.Validate `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// anApplication is an Application whose deployment goes to the Sites of the quickstart.
const anApplication = `apiVersion: claims.intentplane.dev/v1alpha1
kind: Application
metadata: {namespace: team-a, name: shop}
spec:
  image: registry.example.org/shop@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
  env: [{name: A, value: "1"}]
  deploy: {sites: [edge1]}
`

// TestApplications has commands read Applications in the place of the deployments that they compose.
func TestApplications(t *testing.T) {
	catalog := []string{"--site=" + trialSites, "--blueprint=" + blueprints + "app-internal-1.0.0.yaml"}
	withCatalog := func(args ...string) []string { return append(args, catalog...) }
	head, _, _ := strings.Cut(anApplication, "spec:")
	deployed := strings.NewReplacer("claims.", "", "kind: Application", "kind: IntentDeployment").Replace(head) + `spec:
  expectation: {service: shop, type: app-internal, sites: [edge1], image: "registry.example.org/shop@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", runtime: {env: [{name: A, value: "1"}]}}
`
	sum, problems, code := runIntent(deployed, "digest", "-")
	if code != 0 {
		t.Fatal(problems)
	}
	cases := map[string]struct {
		reason, in string
		args       []string
		code       int
		says       string
	}{
		"Digest": {reason: "The digest is that of the deployment, which its status has.", in: anApplication, args: []string{"digest", "-"}, says: sum},
		"Both": {
			reason: "Deployments and Applications stand in one file.",
			in:     deployed + "---\n" + strings.Replace(anApplication, "name: shop}", "name: other}", 1), args: []string{"digest", "-"},
			says: "team-a/other sha256:",
		},
		"Render": {
			reason: "The files of the deployment are rendered.",
			in:     anApplication, args: withCatalog("render", "-"), says: "clusters/edge1/team-a/shop/deployment-shop.yaml",
		},
		"Validate": {reason: "An Application without mistakes is valid.", in: anApplication, args: withCatalog("validate", "-"), says: "1 object, 0 mistakes"},
		"Tag": {
			reason: "An image without a digest is a warning.",
			in:     strings.Replace(anApplication, "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ":1", 1),
			args:   []string{"validate", "-"}, says: "MovingTag",
		},
		"Schema": {
			reason: "Bad input is refused as by an API server.",
			in:     anApplication + "  route: {host: '*.example.org'}\n", args: []string{"validate", "-"}, code: terminal.ExitInvalid,
			says: "spec.route.host",
		},
		"Twice": {
			reason: "A variable that stands in env and in a service is a mistake.",
			in:     anApplication + "  services: [{name: db, secretRef: {name: db}, env: [{name: A, key: a}]}]\n", args: []string{"validate", "-"},
			code: terminal.ExitInvalid,
			says: "InvalidSpec: spec.services[db].env[A]: A stands at spec.env[0].name already",
		},
		"NoBlueprint": {
			reason: "A missing Blueprint is a mistake.",
			in:     anApplication + "  route: {host: shop.example.org}\n", args: withCatalog("validate", "-"), code: terminal.ExitInvalid, says: "app",
		},
		"Unknown": {
			reason: "A field that an Application does not have is refused.",
			in:     anApplication + "  sources: {}\n", args: []string{"digest", "-"}, code: terminal.ExitInvalid, says: `unknown field "spec.sources"`,
		},
		"Problem": {
			reason: "An Application of which no deployment can be made is refused.",
			in:     strings.Replace(anApplication, "name: shop}", "name: 1shop}", 1), args: []string{"digest", "-"}, code: terminal.ExitInvalid,
			says: "Application 1shop: metadata.name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(tc.in, tc.args...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) {
				t.Errorf("\n%s\nexit code %d, want %d, and %q in:\n%s%s", tc.reason, code, tc.code, tc.says, out, problems)
			}
		})
	}
}
