package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	dashboards "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/provider/telemetry"
)

// TestGenerated compares the files with what is generated.
func TestGenerated(t *testing.T) {
	files, err := generateFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what make generate writes: -want, +got:\n%s", name, diff)
		}
	}
}

// queries returns the queries of all alerts and panels, with an interval for the variable of Grafana.
func queries() map[string]string {
	out := map[string]string{}
	for _, r := range rules() {
		out["alert "+r.name] = r.expr
	}
	for _, v := range views() {
		out["panel "+v.title] = strings.ReplaceAll(v.expr, "$__rate_interval", "5m")
	}
	return out
}

// metrics returns the labels of all metrics that there are: of the provider, of the function, and of kube-state-metrics as it is configured.
func metrics() map[string][]string {
	out := map[string][]string{"intentplane_function_stage_duration_seconds_bucket": {"stage", "le"}}
	for _, f := range telemetry.Families() {
		out[f.Name] = f.Labels
		if f.Buckets != nil {
			out[f.Name+"_bucket"] = append(slices.Clone(f.Labels), "le")
		}
	}
	for _, r := range newStateMetrics().Spec.Resources {
		info, condition := r.Metrics[0], r.Metrics[1]
		labels := []string{"name", "namespace"}
		for label := range info.Each.Info.LabelsFromPath {
			labels = append(labels, label)
		}
		out[r.MetricNamePrefix+"_"+info.Name] = labels
		out[r.MetricNamePrefix+"_"+condition.Name] = []string{"name", "namespace", "type", "reason"}
	}
	return out
}

// TestMetricsExist parses all queries, and looks for their metrics and labels.
func TestMetricsExist(t *testing.T) {
	known := metrics()
	for where, query := range queries() {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(query)
		if err != nil {
			t.Errorf("%s: %s: %v", where, query, err)
			continue
		}
		parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			labels, ok := known[s.Name]
			if !ok {
				t.Errorf("%s: %s: no metric %s", where, query, s.Name)
			}
			for _, m := range s.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(labels, m.Name) {
					t.Errorf("%s: %s: %s has no label %s", where, query, s.Name, m.Name)
				}
			}
			return nil
		})
	}
}

// TestRunbookLines fills in the runbook line of each alert as Prometheus does, for each reason that may be in the label.
func TestRunbookLines(t *testing.T) {
	for _, r := range rules() {
		reasons := []string{r.reason, "FromTomorrow"}
		if r.kind != "" {
			reasons = append(reasons, advice.Reasons(r.kind)...)
		}
		for _, reason := range reasons {
			got := fillIn(t, r.runbookLine(), reason)
			want := "kubectl intent why shop -n team-a"
			if a, known := advice.For(r.kind, reason); known {
				want = "Who acts: " + a.Actor.Words() + ". " + a.Do
			}
			if r.reason != "" || r.kind == "" {
				want = "Who acts: "
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s with reason %q: runbook %q, want %q", r.name, reason, got, want)
			}
		}
		if got := fillIn(t, r.summary, "Reason"); got == "" || strings.Contains(got, "<no value>") {
			t.Errorf("%s: summary %q", r.name, got)
		}
	}
}

// fillIn a text of an alert with labels.
func fillIn(t *testing.T, text, reason string) string {
	t.Helper()
	parsed, err := template.New("").Parse("{{ $labels := .Labels }}{{ $value := .Value }}" + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b := &bytes.Buffer{}
	labels := map[string]string{"name": "shop", "namespace": "team-a", "reason": reason, "revision": "7", "phase": "Failed", "state": "Held"}
	if err := parsed.Execute(b, map[string]any{"Labels": labels, "Value": 2}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDashboardSchema reads the dashboard that is shipped with Grafana's own schema: fields that are unknown or missing, and values of another type, are errors.
func TestDashboardSchema(t *testing.T) {
	known := cog.NewRuntime()
	for _, c := range []variants.PanelcfgConfig{timeseries.VariantConfig(), stat.VariantConfig(), table.VariantConfig()} {
		known.RegisterPanelcfgVariant(c)
	}
	known.RegisterDataqueryVariant(prometheus.VariantConfig())
	b, err := os.ReadFile(filepath.Join("..", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := dashboards.Dashboard{} //nolint:staticcheck // The dashboard has the classic schema, which Grafana loads from files.
	// Without a problem it returns an empty list, which is not nil.
	if err := d.UnmarshalJSONStrict(b); err != nil && err.Error() != "" {
		t.Fatalf("the dashboard is not what Grafana's schema describes: %v", err)
	}
	if err := d.Validate(); err != nil && err.Error() != "" {
		t.Errorf("the dashboard breaks a constraint of Grafana's schema: %v", err)
	}
	if len(d.Panels) != len(views()) {
		t.Errorf("Grafana's schema reads %d panels, want %d", len(d.Panels), len(views()))
	}
}

// TestDashboard holds for what Grafana needs of a dashboard: panels with names of their own that do not overlap, and queries.
func TestDashboard(t *testing.T) {
	d := newDashboard()
	taken, titles := map[gridPos]bool{}, map[string]bool{}
	for _, p := range d.Panels {
		if taken[p.GridPos] || titles[p.Title] || p.GridPos.X+p.GridPos.W > columns {
			t.Errorf("panel %q at %+v: the place or the title is taken, or it is outside", p.Title, p.GridPos)
		}
		taken[p.GridPos], titles[p.Title] = true, true
		if len(p.Targets) != 1 || p.Targets[0].Expr == "" || p.Datasource.UID != "${"+d.Templating.List[0].Name+"}" {
			t.Errorf("panel %q: %+v", p.Title, p)
		}
	}
}
