package offline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/cli"
)

const analysisTemplate = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: success-rate}
spec:
  args: [{name: service-name}]
  metrics:
  - name: success-rate
    interval: 1m
    count: 3
    successCondition: result[0] >= 0.95
    provider:
      prometheus:
        address: http://prometheus.monitoring:9090
        query: sum(rate(requests{service="{{args.service-name}}",code!~"5.."}[2m])) / sum(rate(requests{service="{{args.service-name}}"}[2m]))
`

const metricTemplate = `apiVersion: flagger.app/v1beta1
kind: MetricTemplate
metadata: {name: errors}
spec:
  provider: {type: prometheus}
  query: sum(rate(errors{namespace="{{ namespace }}"}[{{ interval }}]))
`

func TestImport(t *testing.T) {
	argoFlags := []string{"import", "analysis", "-", "--site-server", "--arg", "service-name={{service}}"}
	cases := map[string]struct {
		reason string
		in     string
		args   []string
		code   int
		says   []string
	}{
		"Checks": {
			reason: "An analysis becomes a patch of a deployment.",
			in:     analysisTemplate, args: argoFlags,
			says: []string{"spec:\n  gatesConfig:\n    checks:", "name: success-rate", `{service="{{service}}"`, "threshold: '>= 0.95'"},
		},
		"JSON": {reason: "The patch may be JSON.", in: analysisTemplate, args: append(argoFlags, "-o", "json"), says: []string{`"threshold": "\u003e= 0.95"`}},
		"Metrics": {
			reason: "An analysis becomes metrics of a Blueprint, and a patch with their thresholds.",
			in:     analysisTemplate, args: append(argoFlags, "--into=metrics"),
			says: []string{
				"metrics:\n- count: 3\n  direction: AtLeast", "---\nspec:\n  gatesConfig:\n    sloThresholds:\n      success_rate: '>= 0.95'",
			},
		},
		"Template": {
			reason: "A MetricTemplate alone becomes a check with the threshold of the command line.",
			in:     metricTemplate, args: []string{"import", "metrictemplate", "-", "--threshold", "<= 5"},
			says: []string{`errors{namespace="{{namespace}}"}[1m]`, "threshold: <= 5"},
		},
		"Fields": {
			reason: "A field that cannot be converted is named, and nothing is printed.",
			in:     analysisTemplate, args: []string{"import", "analysis", "-"}, code: 1,
			says: []string{"AnalysisTemplate success-rate: spec.args[0]: service-name has no value", "spec.metrics[0].provider.prometheus.address"},
		},
		"Nothing": {
			reason: "A file without a template is a mistake.",
			in:     cli.Claim, args: []string{"import", "analysis", "-"}, code: 1,
			says: []string{"the file has no AnalysisTemplate or ClusterAnalysisTemplate"},
		},
		"NoTemplate": {
			reason: "A file without a MetricTemplate is a mistake.",
			in:     cli.Claim, args: []string{"import", "metrictemplate", "-"}, code: 1, says: []string{"the file has no MetricTemplate"},
		},
		"Unreadable": {
			reason: "A file that is not there is a mistake of the command line.",
			args:   []string{"import", "analysis", "nowhere.yaml"}, code: 2, says: []string{"cannot read file"},
		},
		"Count": {
			reason: "A count has bounds.",
			in:     analysisTemplate, args: append(argoFlags, "--count=101"), code: 2, says: []string{"--count: 101 is not from 1 to 100"},
		},
		"Threshold": {
			reason: "A threshold that our own rules refuse is named.",
			in:     metricTemplate, args: []string{"import", "metrictemplate", "-", "--threshold", "5"}, code: 1,
			says: []string{"the converted file is not valid: spec.gatesConfig.checks[0]: threshold"},
		},
		"AddressOwn": {
			reason: "A metric of a Blueprint has no address.",
			in:     strings.Replace(analysisTemplate, "http:", "https:", 1),
			args:   []string{"import", "analysis", "-", "--arg=service-name=a", "--into=metrics"}, code: 1,
			says: []string{"check success-rate: checks[0]: has an address"},
		},
		"BlueprintOf": {
			reason: "A metric whose measurements may all fail is refused by our own rules.",
			in:     strings.Replace(analysisTemplate, "count: 3", "count: 3\n    failureLimit: 3", 1), args: append(argoFlags, "--into=metrics"),
			code: 1, says: []string{"spec.metrics[0].failureLimit: 3 of 3 measurements may fail"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(tc.in, tc.args...)
			if code != tc.code || code != 0 && out != "" {
				t.Errorf("\n%s\nrun(%q): exit code %d:\n%s%s", tc.reason, tc.args, code, out, problems)
			}
			for _, says := range tc.says {
				if !strings.Contains(out+problems, says) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, says, out, problems)
				}
			}
		})
	}
}

// TestImportedIsAccepted passes the conversion to the commands that judge deployments and Blueprints.
func TestImportedIsAccepted(t *testing.T) {
	flags := []string{"import", "analysis", "-", "--site-server", "--arg", "service-name={{service}}"}
	patch, problems, code := runIntent(analysisTemplate, flags...)
	if code != 0 {
		t.Fatalf("import analysis: exit code %d: %s", code, problems)
	}
	deployment := "apiVersion: intentplane.dev/v1alpha1\nkind: IntentDeployment\nmetadata: {namespace: team-a, name: shop}\n" + strings.Replace(patch, "spec:\n", "spec:\n  expectation: {service: shop, sites: [edge1]}\n", 1)
	if out, problems, code := runIntent(deployment, "validate", "-", "--strict"); code != 0 {
		t.Errorf("The checks of an analysis are valid in a deployment: exit code %d:\n%s%s", code, out, problems)
	}
	metrics, _, _ := runIntent(analysisTemplate, append(flags, "--into=metrics")...)
	part, thresholds, _ := strings.Cut(metrics, "---\n")
	set := struct {
		Spec struct {
			GatesConfig deploymentv1alpha1.GatesConfig `json:"gatesConfig"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal([]byte(thresholds), &set); err != nil || set.Spec.GatesConfig.SLOThresholds["success_rate"] != ">= 0.95" {
		t.Errorf("The thresholds of an analysis are a patch of a deployment: %v, %q", err, thresholds)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"blueprint.yaml":     part + "examples:\n- intent: '{\"service\": \"shop\", \"slos\": {\"success_rate\": \">= 0.95\"}}'\n",
		"kustomization.yaml": "resources: [configmap.yaml]\n",
		"configmap.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, problems, code := runIntent("", "blueprint", "test", dir); code != 0 || !strings.Contains(out, "ok") {
		t.Errorf("The metrics of an analysis are valid in a Blueprint: exit code %d:\n%s%s", code, out, problems)
	}
}
