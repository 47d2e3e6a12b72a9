package offline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

// inChannel returns an example of a Blueprint, in a channel or in none, and the digest that a revision would name.
func inChannel(t *testing.T, text, channel string) (*unstructured.Unstructured, string) {
	t.Helper()
	o, b := cli.Parse(t, text), &catalogv1alpha1.Blueprint{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, b); err != nil {
		t.Fatal(err)
	}
	d, err := digest.Of(b.Spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.SetLabels(map[string]string{"blueprint": "web", "channel": channel})
	return o, d
}

// TestStays looks at a deployment whose Blueprint is not in its channel any more.
func TestStays(t *testing.T) {
	first, err := os.ReadFile(examples + "20-blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	second := strings.NewReplacer("1.0.0", "1.1.0", "default: Hello", "default: Good morning").Replace(string(first))
	files := map[string]string{"web-1.0.0": examples + "20-blueprint.yaml", "web-1.1.0": cli.WriteFile(t, second)}
	old, sum := inChannel(t, string(first), "old")
	now, _ := inChannel(t, second, "stable")
	const manual, automatic = "Manual", "Automatic"
	type want struct {
		Blueprint string `json:"blueprint"`
		Update    string `json:"update"`
	}
	cases := map[string]struct {
		reason  string
		policy  string
		version string
		digest  string
		there   []*unstructured.Unstructured
		args    []string
		want    want
		says    string
	}{
		"Manual": {
			reason: "A deployment stays with its Blueprint until a user approves another Blueprint.",
			policy: manual, digest: sum, there: []*unstructured.Unstructured{old, now}, want: want{Blueprint: "web-1.0.0", Update: "web-1.1.0"},
		},
		"WithUpdate": {
			reason: "A user can see a waiting update before its approval.",
			policy: manual, digest: sum, there: []*unstructured.Unstructured{old, now}, args: []string{"--with-update"}, want: want{Blueprint: "web-1.1.0"},
		},
		"Automatic": {
			reason: "A deployment that follows the channel stays with no Blueprint.",
			policy: automatic, digest: sum, there: []*unstructured.Unstructured{old, now}, want: want{Blueprint: "web-1.1.0"},
		},
		"New": {
			reason: "A deployment that was never delivered takes the newest Blueprint.",
			policy: manual, there: []*unstructured.Unstructured{old, now}, want: want{Blueprint: "web-1.1.0"},
		},
		"File": {
			reason: "A Blueprint in a file replaces the chosen Blueprint.",
			policy: manual, digest: sum, there: []*unstructured.Unstructured{old, now}, args: []string{"--blueprint", files["web-1.1.0"]},
			want: want{Blueprint: "web-1.1.0"},
		},
		"Version": {
			reason: "A Blueprint that was chosen by its version waits for nothing.",
			policy: manual, version: "1.0.0", digest: sum, there: []*unstructured.Unstructured{old, now}, want: want{Blueprint: "web-1.0.0"},
		},
		"Gone": {
			reason: "A deployment whose Blueprint is missing gets the error that the function gives.",
			policy: manual, digest: sum, there: []*unstructured.Unstructured{now},
			says: "BlueprintMissing: Blueprint web-1.0.0, which the deployment keeps until",
		},
		"Anew": {
			reason: "A deployment does not stay with another Blueprint of the same name.",
			policy: manual, digest: "sha256:other", there: []*unstructured.Unstructured{old, now}, says: "it was deleted and created again",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := `{"service": "shop", "site": "edge1"}'` + "\n  blueprint: {updatePolicy: " + tc.policy
			if tc.version != "" {
				spec += ", version: " + tc.version
			}
			spec += "}\n"
			if tc.digest != "" {
				spec += "status: {blueprint: {name: web-1.0.0, digest: \"" + tc.digest + "\"}}"
			}
			server := cli.Server{Objects: append(tc.there, cli.Parse(t, strings.Replace(cli.Claim, `{"service": "shop"}'`, spec, 1)))}
			args := append([]string{"--claim", "shop", "--kubeconfig", server.Start(t, trialSites, examples+"30-config.yaml")}, tc.args...)
			out, problems, code := runIntent("", append([]string{"explain", "-o", "json"}, args...)...)
			if (code == 0) != (tc.says == "") || !strings.Contains(problems, tc.says) {
				t.Fatalf("\n%s\nrun(%q): exit code %d: %s", tc.reason, args, code, problems)
			}
			if code != 0 {
				return
			}
			got := []want{}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]want{tc.want}, got); diff != "" {
				t.Errorf("\n%s\nrun(%q): -want, +got:\n%s", tc.reason, args, diff)
			}
			renders(t, tc.want.Blueprint, files[tc.want.Blueprint], args)
		})
	}
	if _, problems, code := runIntent(cli.Claim, "explain", "-", "--with-update"); code != terminal.ExitUsage || !strings.Contains(problems, "--claim") {
		t.Errorf("A file waits for no approval: exit code %d: %s", code, problems)
	}
}

// renders checks that a deployment is rendered with a Blueprint.
func renders(t *testing.T, blueprint, file string, args []string) {
	t.Helper()
	claimText := strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1"}`, 1) + "  blueprint: {version: " + strings.TrimPrefix(blueprint, "web-") + "}\n"
	want, problems, code := runIntent(claimText, "render", "-", "--site", trialSites, "--blueprint", file, "--config", examples+"30-config.yaml")
	if code != 0 {
		t.Fatal(problems)
	}
	got, problems, _ := runIntent("", append([]string{"render"}, args...)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("render: %s: -want, +got:\n%s", problems, diff)
	}
}

func TestExplain(t *testing.T) {
	out, problems, code := runIntent(strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "replicas": 1, "image": "registry.example.org/team/app:1.2.0"}`, 1),
		"explain", "-", "--site", trialSites, "--blueprint", examples+"20-blueprint.yaml")
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
	text, err := os.ReadFile(trialSites)
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
	_, problems, code = runIntent(judged, "explain", "-", "--site", trialSites, "--blueprint", examples+"20-blueprint.yaml")
	const nowhere = `InvalidSpec: spec.intent: objective latency_p99: Site "edge1": prometheus.address: no Prometheus server is configured: ` +
		`set spec.metrics.prometheus.address in Site "edge1", or in the ClusterProviderConfig of its repository`
	if code != terminal.ExitInvalid || !strings.Contains(problems, nowhere) {
		t.Errorf("Without a Prometheus server the claim names the field to set: exit code %d: %s", code, problems)
	}
}

func TestExplainUnread(t *testing.T) {
	_, problems, code := runIntent(strings.Replace(cli.Claim, `"shop"}`, `"shop", "site": "edge1", "qos": {"latencyMs": 5}}`, 1),
		"explain", "-", "--site", trialSites, "--blueprint", examples+"20-blueprint.yaml")
	want := "kubectl-intent: error: team-a/shop: NotSupportedByBlueprint: spec.intent: qos.latencyMs: "
	if code != terminal.ExitInvalid || !strings.HasPrefix(problems, want) {
		t.Errorf("explain does not call a value the claim's that the Blueprint does not read: exit code %d, %q, want %q", code, problems, want)
	}
}
