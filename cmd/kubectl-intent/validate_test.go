package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const blueprints = "../../examples/blueprints/"

// runIntent returns the output of a command line, and its exit code.
func runIntent(in string, args ...string) (out, problems string, code int) {
	o, p := &bytes.Buffer{}, &bytes.Buffer{}
	code = runCommand(args, &terminal.Streams{In: strings.NewReader(in), Out: o, Interval: time.Millisecond}, p)
	return o.String(), p.String(), code
}

func TestExitCodes(t *testing.T) {
	sites, blueprint := "--site="+examples+"10-sites.yaml", "--blueprint="+examples+"20-blueprint.yaml"
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   int
		says   string
	}{
		"Valid":         {reason: "Valid objects end the command with exit code 0.", args: []string{"validate", examples + "10-sites.yaml", examples + "20-blueprint.yaml", examples + "30-config.yaml", examples + "40-claim.yaml"}, says: "5 objects, 0 mistakes"},
		"ValidCompiled": {reason: "A claim that compiles with the catalog is valid.", args: []string{"validate", examples + "40-claim.yaml", sites, blueprint, "--config=" + examples + "30-config.yaml"}, says: "1 object, 0 mistakes"},
		"Invalid":       {reason: "An invalid object ends with 1, and the message names it.", in: strings.Replace(cli.Claim, "intent:", "intnt:", 1), args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: `-:5: IntentDeployment team-a/shop: InvalidSpec: spec.intnt: is not a field of this kind`},
		"InvalidIntent": {reason: "An intent with an unknown field is invalid.", in: strings.Replace(cli.Claim, `"service"`, `"servce"`, 1), args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: "InvalidIntent"},
		"InvalidSite":   {reason: "A claim for a Site outside of the catalog is invalid.", in: strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge9"}`, 1), args: []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid, says: "SiteMissing"},
		"NoBlueprint":   {reason: "A missing Blueprint is reported with the existing Blueprints.", in: strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "type": "wep"}`, 1), args: []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid, says: `BlueprintMissing: Blueprint wep in channel "stable" does not exist: did you mean "web" instead of "wep"?`},
		"InvalidRender": {reason: "A parameter that the Blueprint does not take is invalid.", in: strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "parameters": {"a": "b"}}`, 1), args: []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid, says: "RenderFailed"},
		"UnreadValue": {
			reason: "A value that the Blueprint does not read is refused with its field.",
			in:     strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "qos": {"latencyMs": 5}}`, 1), args: []string{"validate", "-", sites, blueprint}, want: terminal.ExitInvalid,
			says: `-:5: IntentDeployment team-a/shop: NotSupportedByBlueprint: spec.intent: qos.latencyMs: Blueprint "web-1.0.0" does not read this value`,
		},
		"InvalidYAML":   {reason: "A file that is not YAML is invalid.", in: "a: [", args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: "1 mistake"},
		"InvalidSecond": {reason: "A line is that of the file.", in: cli.Claim + "---\nkind: a\nb: [\n", args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: "-:8: InvalidSpec: yaml: line 8: did not find expected node content\n"},
		"Twice":         {reason: "A field that comes twice is one mistake on one line.", in: "---\na: 1\na: 2\n", args: []string{"validate", "-"}, want: terminal.ExitInvalid, says: "-:3: InvalidSpec: yaml: unmarshal errors: line 3: key \"a\" already set in map\n"},
		"OtherKinds":    {reason: "Objects of other projects are not checked.", in: "apiVersion: v1\nkind: Namespace\n", args: []string{"validate", "-"}, says: "0 objects, 0 mistakes"},
		"UnknownFlag":   {reason: "A wrong command line is 2.", args: []string{"validate", "-", "--sites"}, want: terminal.ExitUsage},
		"UnknownForm":   {reason: "An unknown output format is a mistake in the command.", args: []string{"validate", "-", "-o", "xml"}, want: terminal.ExitUsage},
		"NoFile": {
			reason: "A missing file is a mistake.",
			args:   []string{"validate", "nowhere.yaml"}, want: terminal.ExitInvalid, says: "nowhere.yaml:1: Unreadable: cannot read file: ",
		},
		"NoSiteFile": {
			reason: "A missing file that applies to all objects makes a wrong command line.",
			args:   []string{"validate", "-", "--site", "nowhere.yaml", blueprint}, want: terminal.ExitUsage,
		},
		"HalfACatalog":  {reason: "Sites without a Blueprint are a mistake in the command.", args: []string{"validate", "-", sites}, want: terminal.ExitUsage},
		"BlueprintTest": {reason: "Examples that render end the command with exit code 0.", args: []string{"blueprint", "test", blueprints + "web-1.1.0.yaml"}, says: "web-1.1.0 spec.examples[0] ok: 7 files for Site edge1"},
		"BlueprintReads": {
			reason: "The values that a Blueprint reads are listed.", args: []string{"blueprint", "test", blueprints + "adopted"},
			says: "test-0.0.0 reads cpu, image, memory, replicas\ntest-0.0.0 spec.examples[0] ok",
		},
		"BlueprintDir":   {reason: "A directory can be tested before it is made a Blueprint.", args: []string{"blueprint", "test", blueprints + "batch"}, says: "spec.examples[1] ok"},
		"NoExamples":     {reason: "Nothing to test is not success.", in: cli.BareBlueprint, args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: "web-1.0.0 reads nothing\nweb-1.0.0 spec.examples failed: there is none to test: add an intent to examples"},
		"Nothing":        {reason: "Without a command the usage is printed, as kubectl does.", says: "Usage: kubectl-intent <command>"},
		"BlueprintFails": {reason: "The failed example is named, with its error.", in: cli.BareBlueprint + "  examples: [{intent: '{\"service\": \"a\"}'}]\n", args: []string{"blueprint", "test", "-"}, want: terminal.ExitInvalid, says: "web-1.0.0 spec.examples[0] failed:"},
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
	got := Report{}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != terminal.ExitInvalid {
		t.Fatalf("run(...): exit code %d, %v:\n%s", code, err, out)
	}
	want := Report{Checked: 3, Findings: []Finding{{
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

func TestExplain(t *testing.T) {
	out, problems, code := runIntent(strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "replicas": 1, "image": "registry.example.org/team/app:1.2.0"}`, 1),
		"explain", "-", "--site", examples+"10-sites.yaml", "--blueprint", examples+"20-blueprint.yaml")
	if code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	got := [][]string{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 2 {
			got = append(got, f)
		}
	}
	want := [][]string{
		{"KEY", "VALUE", "FROM"},
		{"claim", `"shop"`, "claim"},
		{"cpu", `"100m"`, "Blueprint,", "intent.yaml"},
		{"image", `"registry.example.org/team/app:1.2.0"`, "claim"},
		{"memory", `"128Mi"`, "Blueprint,", "intent.yaml"},
		{"namespace", `"team-a"`, "claim"},
		{"param-greeting", `"Hello"`, "Blueprint,", "parametersSchema"},
		{"priority", `"medium"`, "default"},
		{"replicas", `"1"`, "claim"},
		{"service", `"shop"`, "claim"},
		{"site", `"edge1"`, "Site"},
		{"type", `"web"`, "default"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Each value has a source: -want, +got:\n%s", diff)
	}
}

// TestExplainChecks explains a claim with an objective and a rule of its own, by the Blueprint of the quickstart.
func TestExplainChecks(t *testing.T) {
	text, err := os.ReadFile(examples + "10-sites.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sites := filepath.Join(t.TempDir(), "sites.yaml")
	measured := strings.ReplaceAll(string(text), "  engine:\n", "  metrics: {prometheus: {address: 'http://prometheus.example.org:9090'}}\n  engine:\n")
	if err := os.WriteFile(sites, []byte(measured), 0o600); err != nil {
		t.Fatal(err)
	}
	judged := strings.Replace(cli.Claim, `"shop"}'`, `"shop", "site": "edge1", "slos": {"latency_p99": "<= 500ms"}}'`+"\n  gatesConfig: {metricRules: {latency_p99: {count: 5}}}", 1)
	out, problems, code := runIntent(judged, "explain", "-", "--site", sites, "--blueprint", examples+"20-blueprint.yaml")
	if code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	_, table, _ := strings.Cut(out, "CHECK ")
	want := strings.Fields("THRESHOLD DELAY INTERVAL COUNT FAILURES ERRORS NO-DATA TIMEOUT latency_p99 <= 0.5s 2m1s 30s 5 1 4 Wait 5m")
	if diff := cmp.Diff(want, strings.Fields(table)); diff != "" {
		t.Errorf("Each check has its threshold and all of its rules: -want, +got:\n%s\n%s", diff, out)
	}
	_, problems, code = runIntent(judged, "explain", "-", "--site", examples+"10-sites.yaml", "--blueprint", examples+"20-blueprint.yaml")
	const nowhere = `InvalidSpec: spec.intent: objective latency_p99: Site "edge1": prometheus.address: no Prometheus server is configured: ` +
		`set spec.metrics.prometheus.address in Site "edge1", or in the ClusterProviderConfig of its repository`
	if code != terminal.ExitInvalid || !strings.Contains(problems, nowhere) {
		t.Errorf("Without a Prometheus server the claim names the field to set: exit code %d: %s", code, problems)
	}
}

// TestValidateOverlap looks at claims of two files of which the later one brings objects of the first one to the same Site.
func TestValidateOverlap(t *testing.T) {
	dir, files := t.TempDir(), map[string]string{"one": "shop", "two": "market", "three": "elsewhere"}
	args := []string{"validate"}
	for _, name := range []string{"one", "two", "three"} {
		site := map[string]string{"one": "edge1", "two": "edge1", "three": "edge2"}[name]
		text := strings.NewReplacer("name: shop}", "name: "+files[name]+"}", `"shop"}`, `"shop", "site": "`+site+`"}`).Replace(cli.Claim)
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	out, problems, code := runIntent("", append(args, "--site="+examples+"10-sites.yaml", "--blueprint="+examples+"20-blueprint.yaml")...)
	want := `two.yaml:1: IntentDeployment team-a/market: ObjectConflict: Site "edge1": ConfigMap team-a/shop is delivered there by team-a/shop as well: give one of the services another name` +
		"\n3 objects, 1 mistake\n"
	if code != terminal.ExitInvalid || !strings.HasSuffix(out, want) {
		t.Errorf("An object that two claims bring to one Site is found across files: want 1 and %q, got %d:\n%s%s", want, code, out, problems)
	}
}

func TestExplainUnread(t *testing.T) {
	_, problems, code := runIntent(strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "qos": {"latencyMs": 5}}`, 1),
		"explain", "-", "--site", examples+"10-sites.yaml", "--blueprint", examples+"20-blueprint.yaml")
	want := "kubectl-intent: error: team-a/shop: NotSupportedByBlueprint: spec.intent: qos.latencyMs: "
	if code != terminal.ExitInvalid || !strings.HasPrefix(problems, want) {
		t.Errorf("explain does not call a value the claim's that the Blueprint does not read: exit code %d, %q, want %q", code, problems, want)
	}
}

func TestRenderDiff(t *testing.T) {
	checkout, args := t.TempDir(), []string{"render", examples + "40-claim.yaml", "--site", examples + "10-sites.yaml", "--blueprint", examples + "20-blueprint.yaml"}
	diff := append(slices.Clone(args), "--path-prefix", "fleet", "--diff", checkout)
	out, problems, code := runIntent("", diff...)
	if code != terminal.ExitInvalid || !strings.Contains(out, "+++ b/fleet/clusters/edge2/team-a/shop/deployment-shop.yaml\n") {
		t.Fatalf("Nothing is there yet: exit code %d:\n%s%s", code, out, problems)
	}
	rendered := filepath.Join(t.TempDir(), "out")
	if _, problems, code := runIntent("", append(args, "--to", rendered)...); code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	for _, site := range []string{"edge1", "edge2"} {
		target := filepath.Join(checkout, "fleet/clusters", site, "team-a/shop")
		if err := os.CopyFS(target, os.DirFS(filepath.Join(rendered, site))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(target, ".intentplane"), []byte("marker"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, problems, code := runIntent("", diff...); code != 0 || out != "" {
		t.Errorf("The branch has all files: exit code %d:\n%s%s", code, out, problems)
	}
	secret := filepath.Join(checkout, "fleet/clusters/edge1/team-a/shop/old.yaml")
	if err := os.WriteFile(secret, []byte("apiVersion: v1\nkind: Secret\nstringData: {a: hunter2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code = runIntent("", diff...)
	if code != terminal.ExitInvalid || !strings.Contains(out, "A Secret differs") || strings.Contains(out, "hunter2") {
		t.Errorf("Objects to remove are shown, Secrets are not: exit code %d:\n%s", code, out)
	}
}

func TestBlueprintCreate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.yaml")
	_, problems, code := runIntent("", "blueprint", "create", blueprints+"web", "--name", "web", "--version", "1.1.0", "--channel", "next", "--to", file)
	if code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(blueprints + "web-1.1.0.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("The example is the output of the command: -file, +made:\n%s", diff)
	}
}

func TestBlueprintAdvice(t *testing.T) {
	const advice = "kubectl-intent: advice: the intent's image is used nowhere: name a container's image intent (a.yaml: Deployment shop)\n" +
		"kubectl-intent: advice: the intent's replicas and resources are used nowhere: label a workload intentplane.dev/workload: main " +
		"(a.yaml: Deployment shop), unless a HorizontalPodAutoscaler scales it\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n",
		"a.yaml":             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{dir: advice, blueprints + "adopted": "", blueprints + "web": ""} {
		out, problems, code := runIntent("", "blueprint", "create", path, "--name", "web", "--version", "1.0.0", "-o", "json")
		if diff := cmp.Diff(want, problems); code != 0 || !strings.HasPrefix(out, "{") || diff != "" {
			t.Errorf("Advice is given beside the Blueprint of %s: exit code %d: -want, +got:\n%s", filepath.Base(path), code, diff)
		}
	}
}
