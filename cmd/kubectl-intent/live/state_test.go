package live

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	Artifacts  Artifacts  `cmd:""`
	Blueprints Blueprints `cmd:""`
	Diff       Diff       `cmd:""`
	Doctor     Doctor     `cmd:""`
	History    History    `cmd:""`
	Logs       Logs       `cmd:""`
	Sites      Sites      `cmd:""`
	State      State      `cmd:""`
	Status     Status     `cmd:""`
	Version    Version    `cmd:""`
	Why        Why        `cmd:""`
}

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	return cli.Run(&commands{}, in, args...)
}

// recordSecret returns a Secret with a record.
func recordSecret(namespace, name, secretType, record string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(record))},
	}}
}

const (
	ourRecord = `{"name":"platform","version":"1.4.0","packages":[` +
		`{"name":"postgres","version":"1.2.0","status":"success","date_updated":"2026-11-22T09:00:00Z","wanted_version":"1.3.0","revision":7},` +
		`{"name":"shop","version":"","status":"failed","date_updated":"2026-11-22T09:00:05Z","wanted_version":"3.0.1","message":"gate \u001b[31mlatency failed"},` +
		`{"name":"debug","version":"0.9.0","status":"unreferenced","date_updated":"2026-11-22T09:00:05Z"}],` +
		`"status":"failed","date_updated":"2026-11-22T09:00:05Z","schema":1,"writer":"w","later":{"a":1}}`
	theirRecord = `{"name":"tools","version":"2","packages":[],"status":"success","date_updated":"2026-11-20T09:00:00Z","schema":1}`
	udsRecord   = `{"name":"core","version":"0.1","packages":[{"name":"init","version":"v1","status":"success","date_updated":"2026-11-21T09:00:00Z"}],"status":"success","date_updated":"2026-11-21T09:00:00Z"}`
	ourType     = "state.intentplane.dev/bundle.v1"
)

func TestRecords(t *testing.T) {
	ours := recordSecret("team-a", "intentplane-bundle-platform", ourType, ourRecord)
	theirs := recordSecret("team-b", "intentplane-bundle-tools", ourType, theirRecord)
	uds := recordSecret("uds", "uds-bundle-core", "Opaque", udsRecord)
	broken := recordSecret("team-a", "intentplane-bundle-broken", ourType, "{")
	const header = "NAMESPACE   NAME       VERSION   STATUS    PACKAGES   UNREFERENCED   UPDATED\n"
	cases := map[string]struct {
		reason   string
		args     string
		objects  []*unstructured.Unstructured
		denied   bool
		out      string
		problems string
		code     int
	}{
		"List": {
			reason: "The records of the namespace are listed.", args: "state list", objects: []*unstructured.Unstructured{ours, theirs, uds},
			out: strings.ReplaceAll(header, "STATUS    ", "STATUS   ") + "team-a      platform   1.4.0     failed   1/2        1              2026-11-22T09:00:05Z\n",
		},
		"ListAll": {
			reason: "The records of all namespaces are listed.", args: "state list -A", objects: []*unstructured.Unstructured{ours, theirs, uds},
			out: header + "team-a      platform   1.4.0     failed    1/2        1              2026-11-22T09:00:05Z\n" +
				"team-b      tools      2         success   0/0        0              2026-11-20T09:00:00Z\n",
		},
		"ListUDS": {
			reason: "The records of uds-cli are in a namespace of their own.",
			args:   "state list --uds -o json", objects: []*unstructured.Unstructured{ours, theirs, uds},
			out: `[
  {
    "namespace": "uds",
    "name": "core",
    "version": "0.1",
    "status": "success",
    "packages": 1,
    "deployed": 1,
    "unreferenced": 0,
    "updated": "2026-11-21T09:00:00Z"
  }
]
`,
		},
		"ListNames": {
			reason: "A list of names has the Secrets that hold the records.",
			args:   "state list -o name", objects: []*unstructured.Unstructured{ours}, out: "secret/intentplane-bundle-platform\n",
		},
		"ListNone": {
			reason: "A namespace without records has an empty list.", args: "state list -n team-c", objects: []*unstructured.Unstructured{ours},
			out: "NAMESPACE   NAME   VERSION   STATUS   PACKAGES   UNREFERENCED   UPDATED\n",
		},
		"ListBroken": {
			reason: "A broken record is named after the others, and the command fails.",
			args:   "state list -o yaml", objects: []*unstructured.Unstructured{broken, theirs},
			out: "[]\n", problems: "broken record in Secret team-a/intentplane-bundle-broken", code: terminal.ExitInvalid,
		},
		"Denied": {
			reason: "Records that may not be read are an error.",
			args:   "state list", denied: true, problems: "cannot list the records of namespace \"team-a\"", code: terminal.ExitInvalid,
		},
		"Show": {
			reason: "A record is shown package by package, and texts of others cannot steer the terminal.",
			args:   "state show platform", objects: []*unstructured.Unstructured{ours},
			out: `BUNDLE    team-a/platform
VERSION   1.4.0
STATUS    failed
UPDATED   2026-11-22T09:00:05Z
WRITER    w

PACKAGE    VERSION   WANTED   STATUS         REVISION   UPDATED                MESSAGE
postgres   1.2.0     1.3.0    success        7          2026-11-22T09:00:00Z   
shop       -         3.0.1    failed         -          2026-11-22T09:00:05Z   gate \x1b[31mlatency failed
debug      0.9.0     -        unreferenced   -          2026-11-22T09:00:05Z   
`,
		},
		"ShowMissing": {
			reason: "A bundle without a record is an error that names the way to a record.", args: "state show shop", objects: []*unstructured.Unstructured{ours},
			problems: "no record: bundle \"shop\" has none in namespace \"team-a\"", code: terminal.ExitInvalid,
		},
		"ShowUDS": {
			reason: "A record of uds-cli is shown as its fields.", args: "state show core --uds -o yaml", objects: []*unstructured.Unstructured{uds},
			out: `date_updated: "2026-11-21T09:00:00Z"
name: core
packages:
- date_updated: "2026-11-21T09:00:00Z"
  name: init
  status: success
  version: v1
status: success
version: "0.1"
`,
		},
		"Export": {
			reason: "A record is exported with the fields that are unknown.", args: "state export tools -n team-b",
			objects: []*unstructured.Unstructured{recordSecret("team-b", "intentplane-bundle-tools", ourType, strings.TrimSuffix(theirRecord, "}")+`,"later":{"a":1}}`)},
			out: `{
  "name": "tools",
  "version": "2",
  "packages": [],
  "status": "success",
  "date_updated": "2026-11-20T09:00:00Z",
  "schema": 1,
  "later": {
    "a": 1
  }
}
`,
		},
		"ExportAll": {
			reason: "The export has each record with its place.", args: "state export -A -o yaml", objects: []*unstructured.Unstructured{theirs},
			out: `- namespace: team-b
  record:
    date_updated: "2026-11-20T09:00:00Z"
    name: tools
    packages: []
    schema: 1
    status: success
    version: "2"
  secret: intentplane-bundle-tools
`,
		},
		"ExportBroken": {
			reason: "Nothing is exported while a record is broken, since the list would not be whole.",
			args:   "state export -A", objects: []*unstructured.Unstructured{theirs, broken},
			problems: "broken record", code: terminal.ExitInvalid,
		},
		"ExportBoth": {
			reason: "A bundle is in one namespace.", args: "state export platform -A", problems: "leave out its name", code: terminal.ExitUsage,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := cli.Server{Objects: tc.objects, Denied: map[string]bool{"secrets": tc.denied}}
			t.Setenv("KUBECONFIG", server.Start(t))
			out, problems, code := runIntent("", strings.Fields(tc.args)...)
			if diff := cmp.Diff(tc.out, out); diff != "" || code != tc.code || !strings.Contains(problems, tc.problems) || tc.code == 0 && problems != "" {
				t.Errorf("\n%s\n%s: exit code %d, %s; -want, +got:\n%s", tc.reason, tc.args, code, problems, diff)
			}
			if len(server.Made) > 0 {
				t.Errorf("\n%s\n%s: an object was created", tc.reason, tc.args)
			}
		})
	}
}
