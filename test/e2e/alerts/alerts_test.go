// Package alerts runs the alerts of package/observability in promtool, on series as kube-state-metrics, the provider and the function write them.
package alerts

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/template"
	"time"

	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane"
)

// An alert is a rule of the file that is shipped.
type alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// wait returns how long the expression has to hold.
func (a alert) wait(t *testing.T) time.Duration {
	t.Helper()
	d, err := model.ParseDuration(a.For)
	if err != nil {
		t.Fatalf("%s: for: %v", a.Name, err)
	}
	return time.Duration(d)
}

// readAlerts returns the alerts that are shipped.
func readAlerts(t *testing.T) []alert {
	t.Helper()
	b, err := os.ReadFile("../../../package/observability/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := struct {
		Spec struct {
			Groups []struct {
				Rules []alert `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	var out []alert
	for _, g := range file.Spec.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// forever is a series that has one value for all of a test.
func forever(value string) string { return value + "+0x240" }

// goodSeries are those of an installation in which nothing is wrong: a deployment that succeeded, one that goes out, and a canary that shifts.
func goodSeries() map[string]string {
	return map[string]string{
		`intentplane_build_info{component="provider",version="1.2.0"}`:                                                         forever("1"),
		`intentplane_build_info{component="function",version="1.2.0"}`:                                                         forever("1"),
		`intentdeployment_info{namespace="team-b",name="well",phase="Succeeded",outcome="Succeeded",revision="3"}`:             forever("1"),
		`intentdeployment_info{namespace="team-b",name="new",phase="Delivering",outcome="",revision="1"}`:                      forever("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Stalled",reason="Progressing"}`:                       forever("0"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Responsive",reason="WatchCircuitClosed"}`:             forever("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Validated",reason="Passed"}`:                          forever("1"),
		`intentdeployment_condition{namespace="team-b",name="new",type="Validated",reason="Measuring"}`:                        forever("0"),
		`intentdeployment_ledger_unreachable{instance="provider"}`:                                                             forever("0"),
		`intentdeployment_canary{state="Shifting"}`:                                                                            forever("1"),
		`intentdeployment_canary{state="AwaitingPromotion"}`:                                                                   forever("0"),
		`application_info{namespace="team-b",name="well",phase="Running",reason="Idle"}`:                                       forever("1"),
		`gitdelivery_condition{namespace="team-b",name="well-fleet",type="Ready",reason="Delivered"}`:                          forever("1"),
		`gitdelivery_condition{namespace="team-b",name="new-fleet",type="Ready",reason="Delivering"}`:                          forever("0"),
		`intentdeployment_info{namespace="team-b",name="healed",phase="Failed",outcome="Failed",revision="2",reason="NoSite"}`: "1 stale",
	}
}

// TestAlerts shows for each alert that it is silent before its time, fires then, and that no other alert fires beside it.
func TestAlerts(t *testing.T) {
	shop := func(rest map[string]string) map[string]string {
		out := map[string]string{"namespace": "team-a", "name": "shop"}
		maps.Copy(out, rest)
		return out
	}
	cases := map[string]struct {
		reason string
		// series that are bad, beside the good ones; absent are good ones that are missing.
		series map[string]string
		absent string
		// labels of the alert beside those of the rule, and the value of its expression.
		labels map[string]string
		value  float64
	}{
		"IntentDeploymentFailed": {
			reason: "A deployment that failed is named with its reason, and is not stuck beside that.",
			series: map[string]string{
				`intentdeployment_info{namespace="team-a",name="shop",phase="Failed",outcome="Failed",revision="7",reason="NoTarget"}`: forever("1"),
				`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="NoTarget"}`:                          forever("1"),
			},
			labels: shop(map[string]string{"phase": "Failed", "outcome": "Failed", "revision": "7", "reason": "NoTarget"}), value: 1,
		},
		"IntentDeploymentRolledBack": {
			reason: "A deployment that was rolled back is named with its revision, and is not stuck beside that.",
			series: map[string]string{
				`intentdeployment_info{namespace="team-a",name="shop",phase="Succeeded",outcome="RolledBack",revision="7",reason="RolledBack"}`: forever("1"),
				`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="RolledBack"}`:                                 forever("1"),
			},
			labels: shop(map[string]string{"phase": "Succeeded", "outcome": "RolledBack", "revision": "7", "reason": "RolledBack"}), value: 1,
		},
		"IntentDeploymentStuck": {
			reason: "A deployment that waits for a person is named with what it waits for.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Stalled",reason="BlueprintMissing"}`: forever("1")},
			labels: shop(map[string]string{"type": "Stalled", "reason": "BlueprintMissing"}), value: 1,
		},
		"IntentDeploymentWithoutData": {
			reason: "A gate without data is named, once that lasts.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Validated",reason="NoData"}`: forever("0")},
			labels: shop(map[string]string{"type": "Validated", "reason": "NoData"}),
		},
		"IntentDeploymentDrifted": {
			reason: "Files that another commit changed are named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Delivered",reason="Drifted"}`: forever("0")},
			labels: shop(map[string]string{"type": "Delivered", "reason": "Drifted"}),
		},
		"ApplicationDegraded": {
			reason: "An Application whose pods do not serve is named with its phase.",
			series: map[string]string{`application_info{namespace="team-a",name="shop",phase="Degraded",reason="CrashLoopBackOff"}`: forever("1")},
			labels: shop(map[string]string{"phase": "Degraded", "reason": "CrashLoopBackOff"}), value: 1,
		},
		"RepositoryUnreachable": {
			reason: "A repository that cannot be used is named by its GitDelivery.",
			series: map[string]string{`gitdelivery_condition{namespace="team-a",name="shop",type="Ready",reason="AuthFailed"}`: forever("0")},
			labels: shop(map[string]string{"type": "Ready", "reason": "AuthFailed"}),
		},
		"CompositeNotResponsive": {
			reason: "A composite that Crossplane does not watch is named.",
			series: map[string]string{`intentdeployment_condition{namespace="team-a",name="shop",type="Responsive",reason="WatchCircuitOpen"}`: forever("0")},
			labels: shop(map[string]string{"type": "Responsive", "reason": "WatchCircuitOpen"}),
		},
		"LedgerUnreachable": {
			reason: "Deployments whose ledger cannot be reached are counted over all providers.",
			series: map[string]string{`intentdeployment_ledger_unreachable{instance="other"}`: forever("2")}, value: 2,
		},
		"CanaryAwaitsAUser": {
			reason: "Canaries that wait for a user are counted by what they wait for.",
			series: map[string]string{`intentdeployment_canary{state="Held"}`: forever("3")},
			labels: map[string]string{"state": "Held"}, value: 3,
		},
		"IntentplaneProviderGone": {
			reason: "A provider that reports no metrics is missed.", absent: `intentplane_build_info{component="provider",version="1.2.0"}`,
			labels: map[string]string{"component": "provider"}, value: 1,
		},
		"IntentplaneFunctionGone": {
			reason: "A function that reports no metrics is missed.", absent: `intentplane_build_info{component="function",version="1.2.0"}`,
			labels: map[string]string{"component": "function"}, value: 1,
		},
		"IntentplaneVersionSkew": {
			reason: "Versions that differ for longer than an upgrade takes are noticed.",
			series: map[string]string{`intentplane_build_info{component="provider",version="1.3.0"}`: forever("1")}, value: 2,
		},
	}
	all := readAlerts(t)
	for _, a := range all {
		tc, ok := cases[a.Name]
		if !ok {
			t.Errorf("alert %s has no series that it fires on", a.Name)
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			series := goodSeries()
			maps.Copy(series, tc.series)
			delete(series, tc.absent)
			expected := firing{alert: a, labels: tc.labels, value: tc.value}
			if out, err := runRules(t, all, series, expected); err != nil {
				t.Errorf("\n%s\npromtool test rules: %v:\n%s", tc.reason, err, out)
			}
		})
	}
}

// TestGoodStory shows that no alert fires where nothing is wrong.
func TestGoodStory(t *testing.T) {
	if out, err := runRules(t, readAlerts(t), goodSeries(), firing{}); err != nil {
		t.Errorf("promtool test rules: %v:\n%s", err, out)
	}
}

// A firing is what one alert says when it fires. Without a name none does.
type firing struct {
	alert

	labels map[string]string
	value  float64
}

// runRules runs promtool on series. One alert has to fire once it has waited, and not before; all others are silent. It returns what promtool printed.
func runRules(t *testing.T, all []alert, series map[string]string, want firing) ([]byte, error) {
	t.Helper()
	program, err := controlplane.ToolPath(t.Context(), "PROMTOOL")
	if err != nil {
		t.Fatalf("cannot find promtool: run \"make tools\": %v", err)
	}
	dir := t.TempDir()
	writeYAML(t, filepath.Join(dir, "rules.yaml"), map[string]any{"groups": []any{map[string]any{"name": "intentplane", "rules": all}}})
	writeYAML(t, filepath.Join(dir, "test.yaml"), map[string]any{
		"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": listSeries(series), "alert_rule_test": expectations(t, all, want)}},
	})
	return exec.CommandContext(t.Context(), program, "test", "rules", filepath.Join(dir, "test.yaml")).CombinedOutput()
}

func listSeries(series map[string]string) []any {
	out := []any{}
	for name, values := range series {
		out = append(out, map[string]any{"series": name, "values": values})
	}
	return out
}

// expectations say of each alert whether it fires, just before and just after its time, and at the end of all times.
func expectations(t *testing.T, all []alert, want firing) []any {
	t.Helper()
	out := []any{}
	for _, a := range all {
		at := []time.Duration{a.wait(t) - time.Minute, a.wait(t) + time.Minute, 3 * time.Hour}
		for i, when := range at {
			fires := []any{}
			if a.Name == want.Name && i > 0 {
				fires = append(fires, want.encode(t))
			}
			out = append(out, map[string]any{"eval_time": when.String(), "alertname": a.Name, "exp_alerts": fires})
		}
	}
	return out
}

// encode an alert that fires as promtool expects it: with all labels, and with its annotations filled in.
func (f firing) encode(t *testing.T) map[string]any {
	t.Helper()
	labels, annotations := maps.Clone(f.Labels), map[string]string{}
	maps.Copy(labels, f.labels)
	for name, text := range f.Annotations {
		parsed, err := template.New(name).Parse("{{ $labels := .Labels }}{{ $value := .Value }}" + text)
		if err != nil {
			t.Fatal(err)
		}
		b := &bytes.Buffer{}
		if err := parsed.Execute(b, map[string]any{"Labels": f.labels, "Value": f.value}); err != nil {
			t.Fatal(err)
		}
		annotations[name] = b.String()
	}
	return map[string]any{"exp_labels": labels, "exp_annotations": annotations}
}

func writeYAML(t *testing.T, name string, v any) {
	t.Helper()
	b, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
