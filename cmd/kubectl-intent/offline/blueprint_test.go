package offline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// TestBadQueries breaks the query of a Blueprint that is right in all else.
func TestBadQueries(t *testing.T) {
	b, err := os.ReadFile(blueprints + "web-1.1.0.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "web.yaml")
	bad := strings.Replace(string(b), `100 * sum(sum_over_time(up{`, `100 * sum(sum_over_time({{service}}{`, 1)
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(bad, `100 * sum(sum_over_time({{service}}{`)
	line := strings.Count(before, "\n") // The field begins in the line before.
	const message = `spec.metrics[5].query: "{{service}}" stands where no placeholder may: only in the value of a label matcher`
	onSite := strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1"}`, 1)
	// The claim asks for the channel stable.
	channel := strings.Replace(bad, "channel: next", "channel: stable", 1)
	stable := filepath.Join(t.TempDir(), "stable.yaml")
	if err := os.WriteFile(stable, []byte(channel), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		want   Finding
	}{
		"Blueprint": {
			reason: "A Blueprint in a repository is refused there.",
			args:   []string{"validate", file, "-o", "json"},
			want: Finding{
				File: file, Document: 1, Line: line, Kind: "Blueprint", Name: "web-1.1.0", Field: "spec.metrics[5].query", Reason: "InvalidSpec",
				Message: message,
			},
		},
		"NoExamples": {
			reason: "The queries of a Blueprint without files to render are checked.",
			in:     cli.BareBlueprint + "  metrics: [{name: up, query: 'up > {{service}}', direction: AtLeast}]\n",
			args:   []string{"validate", "-", "-o", "json"},
			want: Finding{
				File: "-", Document: 1, Line: 11, Kind: "Blueprint", Name: "web-1.0.0", Field: "spec.metrics[0].query", Reason: "InvalidSpec",
				Message: strings.Replace(message, "[5]", "[0]", 1),
			},
		},
		"Claim": {
			reason: "A claim that would get it is refused too.",
			in:     onSite,
			args:   []string{"validate", "-", "-o", "json", "--site", trialSites, "--blueprint", stable},
			want: Finding{
				File: "-", Document: 1, Line: 1, Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", Reason: "InvalidSpec",
				Message: "Blueprint web-1.1.0: " + message,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(tc.in, tc.args...)
			got := ValidationReport{}
			if err := json.Unmarshal([]byte(out), &got); err != nil || code != terminal.ExitInvalid {
				t.Fatalf("\n%s\nrun(%q): exit code %d, %v:\n%s%s", tc.reason, tc.args, code, err, out, problems)
			}
			if diff := cmp.Diff([]Finding{tc.want}, got.Findings); diff != "" {
				t.Errorf("\n%s\nrun(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
	if _, problems, code := runIntent("", "blueprint", "test", file); code == 0 || !strings.Contains(problems, message) {
		t.Errorf("A Blueprint that breaks the rule does not pass its own test: exit code %d: %s", code, problems)
	}
}

// TestTracksAreListed tests a Blueprint with a canary, one of whose arguments names a resource with another name in each
// track.
func TestTracksAreListed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\n",
		"blueprint.yaml":     "canary: {}\nexamples:\n- intent: '{\"service\": \"shop\", \"type\": \"web\"}'\n",
		"web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {intentplane.dev/workload: main}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: registry.example.org/web:1, args: [--from=settings], envFrom: [{configMapRef: {name: settings}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, problems, code := runIntent("", "blueprint", "test", dir)
	if code != 0 {
		t.Fatalf("run(blueprint test): exit code %d:\n%s%s", code, out, problems)
	}
	const example = "test-0.0.0 spec.examples[0] "
	want := []string{
		"test-0.0.0 reads cpu, memory, replicas",
		example + "ok: 8 files for Site example",
		example + "each track has ConfigMap settings, Deployment web, Service web",
		example + "both tracks share Service web",
		example + "requests are divided by HTTPRoute web",
		example + "warning: Deployment example/web: spec.template.spec.containers[0].args[0]: has the name of ConfigMap example/settings, which has another name in each track",
	}
	got := strings.Split(strings.TrimSpace(out), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run(blueprint test): -want, +got:\n%s", diff)
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
