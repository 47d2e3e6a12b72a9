// Package alerting runs the alerts of package/observability in promtool: on series that a test writes, and on series that a real Prometheus
// server scraped.
package alerting

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"text/template"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// An Alert is a rule of the file that is shipped.
type Alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// forDuration returns how long the expression has to hold.
func (a Alert) forDuration(t *testing.T) time.Duration {
	t.Helper()
	d, err := model.ParseDuration(a.For)
	if err != nil {
		t.Fatalf("%s: for: %v", a.Name, err)
	}
	return time.Duration(d)
}

// ReadAlerts returns the alerts that are shipped.
func ReadAlerts(t *testing.T) []Alert {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "package", "observability", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := struct {
		Spec struct {
			Groups []struct {
				Rules []Alert `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	var out []Alert
	for _, g := range file.Spec.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// FindAlert returns the alert of a name.
func FindAlert(t *testing.T, all []Alert, name string) Alert {
	t.Helper()
	for _, a := range all {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("cannot find alert %s", name)
	return Alert{}
}

// A Firing is one firing alert with its labels and value. Without a name none does.
type Firing struct {
	Alert

	// SeriesLabels are the labels of the alert beside the labels of the rule, and Value is the value of its expression.
	SeriesLabels map[string]string
	Value        float64
}

// CheckWrittenSeries runs promtool on series that a test wrote. One alert has to fire once it has waited, and not before; all others are
// silent. It returns an error with the output of promtool if that is not so.
func CheckWrittenSeries(t *testing.T, all []Alert, series map[string]string, want Firing) error {
	t.Helper()
	var tests []any
	for _, a := range all {
		var fires []Firing
		if a.Name == want.Name {
			fires = []Firing{want}
		}
		tests = append(tests, a.alertRuleTest(t, a.forDuration(t)-time.Minute, nil), a.alertRuleTest(t, a.forDuration(t)+time.Minute, fires), a.alertRuleTest(t, 3*time.Hour, fires))
	}
	return runPromtool(t, all, series, tests)
}

// runPromtool returns an error, with the output of promtool, if one of the tests fails.
func runPromtool(t *testing.T, all []Alert, series map[string]string, tests []any) error {
	t.Helper()
	program, err := toolbox.Path(t.Context(), "PROMTOOL")
	if err != nil {
		t.Fatalf("cannot find promtool: run \"make tools\": %v", err)
	}
	dir := t.TempDir()
	writeYAMLFile(t, filepath.Join(dir, "rules.yaml"), map[string]any{"groups": []any{map[string]any{"name": "intentplane", "rules": all}}})
	writeYAMLFile(t, filepath.Join(dir, "test.yaml"), map[string]any{
		"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": encodeInputSeries(series), "alert_rule_test": tests}},
	})
	out, err := exec.CommandContext(t.Context(), program, "test", "rules", filepath.Join(dir, "test.yaml")).CombinedOutput()
	return errors.Wrapf(err, "promtool test rules: %s", out)
}

func encodeInputSeries(series map[string]string) []any {
	out := []any{}
	for name, values := range series {
		out = append(out, map[string]any{"series": name, "values": values})
	}
	return out
}

// alertRuleTest returns a test of promtool: at this time the alert fires as it is wanted, or not at all.
func (a Alert) alertRuleTest(t *testing.T, elapsed time.Duration, want []Firing) any {
	t.Helper()
	fires := []any{}
	for _, f := range want {
		fires = append(fires, f.encodeForPromtool(t))
	}
	return map[string]any{"eval_time": elapsed.String(), "alertname": a.Name, "exp_alerts": fires}
}

// encodeForPromtool encodes an alert that fires as promtool expects it: with all labels, and with its annotations filled in.
func (f Firing) encodeForPromtool(t *testing.T) map[string]any {
	t.Helper()
	labels, annotations := maps.Clone(f.Labels), map[string]string{}
	maps.Copy(labels, f.SeriesLabels)
	for name, text := range f.Annotations {
		parsed, err := template.New(name).Parse("{{ $labels := .Labels }}{{ $value := .Value }}" + text)
		if err != nil {
			t.Fatal(err)
		}
		b := &bytes.Buffer{}
		if err := parsed.Execute(b, map[string]any{"Labels": f.SeriesLabels, "Value": f.Value}); err != nil {
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
