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

// waitOf returns how long the expression has to hold.
func (a alert) waitOf(t *testing.T) time.Duration {
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

// constantSeries is a series that has one value for all of a test.
func constantSeries(value string) string { return value + "+0x240" }

// goodSeries are those of an installation in which nothing is wrong: a deployment that succeeded, one that goes out, and a canary that shifts.
func goodSeries() map[string]string {
	return map[string]string{
		`intentplane_build_info{component="provider",version="1.2.0"}`:                                                         constantSeries("1"),
		`intentplane_build_info{component="function",version="1.2.0"}`:                                                         constantSeries("1"),
		`intentdeployment_info{namespace="team-b",name="well",phase="Succeeded",outcome="Succeeded",revision="3"}`:             constantSeries("1"),
		`intentdeployment_info{namespace="team-b",name="new",phase="Delivering",outcome="",revision="1"}`:                      constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Stalled",reason="Progressing"}`:                       constantSeries("0"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Responsive",reason="WatchCircuitClosed"}`:             constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="well",type="Validated",reason="Passed"}`:                          constantSeries("1"),
		`intentdeployment_condition{namespace="team-b",name="new",type="Validated",reason="Measuring"}`:                        constantSeries("0"),
		`intentdeployment_ledger_unreachable{instance="provider"}`:                                                             constantSeries("0"),
		`intentplane_notifications_pending{instance="provider"}`:                                                               constantSeries("0"),
		`intentdeployment_canary{state="Shifting"}`:                                                                            constantSeries("1"),
		`intentdeployment_canary{state="AwaitingPromotion"}`:                                                                   constantSeries("0"),
		`application_info{namespace="team-b",name="well",phase="Running",reason="Idle"}`:                                       constantSeries("1"),
		`gitdelivery_condition{namespace="team-b",name="well-fleet",type="Ready",reason="Delivered"}`:                          constantSeries("1"),
		`gitdelivery_condition{namespace="team-b",name="new-fleet",type="Ready",reason="Delivering"}`:                          constantSeries("0"),
		`clusterproviderconfig_condition{name="well",type="Ready",reason="Reachable"}`:                                         constantSeries("1"),
		`providerconfig_condition{namespace="team-b",name="well",type="StateSigned",reason="StateUnsigned"}`:                   constantSeries("0"),
		`intentdeployment_info{namespace="team-b",name="healed",phase="Failed",outcome="Failed",revision="2",reason="NoSite"}`: "1 stale",
	}
}

// A firing is what one alert says when it fires. Without a name none does.
type firing struct {
	alert

	labels map[string]string
	value  float64
}

// runRulesTest runs promtool on series. One alert has to fire once it has waited, and not before; all others are silent. It returns what promtool printed.
func runRulesTest(t *testing.T, all []alert, series map[string]string, want firing) ([]byte, error) {
	t.Helper()
	program, err := controlplane.ToolPath(t.Context(), "PROMTOOL")
	if err != nil {
		t.Fatalf("cannot find promtool: run \"make tools\": %v", err)
	}
	dir := t.TempDir()
	writeYAMLFile(t, filepath.Join(dir, "rules.yaml"), map[string]any{"groups": []any{map[string]any{"name": "intentplane", "rules": all}}})
	writeYAMLFile(t, filepath.Join(dir, "test.yaml"), map[string]any{
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
		at := []time.Duration{a.waitOf(t) - time.Minute, a.waitOf(t) + time.Minute, 3 * time.Hour}
		for i, when := range at {
			fires := []any{}
			if a.Name == want.Name && i > 0 {
				fires = append(fires, want.encodeForPromtool(t))
			}
			out = append(out, map[string]any{"eval_time": when.String(), "alertname": a.Name, "exp_alerts": fires})
		}
	}
	return out
}

// encodeForPromtool encodes an alert that fires as promtool expects it: with all labels, and with its annotations filled in.
func (f firing) encodeForPromtool(t *testing.T) map[string]any {
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

func writeYAMLFile(t *testing.T, name string, v any) {
	t.Helper()
	b, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
