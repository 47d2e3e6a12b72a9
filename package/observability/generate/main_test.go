package main

import (
	"bytes"
	"maps"
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
	for _, r := range allAlertRules() {
		out["alert "+r.name] = r.expr
	}
	for _, v := range dashboardViews() {
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
		// kube-state-metrics adds the kind to each metric.
		shared := append(slices.Collect(maps.Keys(r.LabelsFromPath)), "customresource_kind")
		for _, m := range r.Metrics {
			out[r.MetricNamePrefix+"_"+m.Name] = append(slices.Collect(maps.Keys(m.labels())), shared...)
		}
	}
	return out
}

// labels returns the labels that a metric has of its own, with where they come from.
func (m stateMetric) labels() map[string][]string {
	if m.Each.Info != nil {
		return m.Each.Info.LabelsFromPath
	}
	return m.Each.Gauge.LabelsFromPath
}

// TestMetricsExist parses all queries, and looks for their metrics and labels.
func TestMetricsExist(t *testing.T) {
	labelsByMetric := metrics()
	for panelName, query := range queries() {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(query)
		if err != nil {
			t.Errorf("%s: %s: %v", panelName, query, err)
			continue
		}
		parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
			s, ok := n.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			labels, ok := labelsByMetric[s.Name]
			if !ok {
				t.Errorf("%s: %s: no metric %s", panelName, query, s.Name)
			}
			for _, m := range s.LabelMatchers {
				if m.Name != model.MetricNameLabel && !slices.Contains(labels, m.Name) {
					t.Errorf("%s: %s: %s has no label %s", panelName, query, s.Name, m.Name)
				}
			}
			return nil
		})
	}
}

// TestRunbookLines fills in the runbook line of each alert as Prometheus does, for each reason that may be in the label. No alert says that no one acts.
func TestRunbookLines(t *testing.T) {
	for _, r := range allAlertRules() {
		reasons := []string{r.reason, "FromTomorrow"}
		if r.kind != "" {
			reasons = slices.Concat(reasons, advice.Reasons(r.kind), advice.Reasons(r.parts))
		}
		for _, reason := range reasons {
			got := fillIn(t, r.runbookLine(), "team-a", reason)
			want := "The message says why. The message: kubectl "
			if a, isKnown := advice.For(r.kind, reason); isKnown && a.Actor != advice.NoActor {
				want = "Who acts: " + a.Actor.Words() + ". " + a.Do
			}
			if r.reason != "" || r.kind == "" {
				want = "Who acts: "
			}
			if !strings.HasPrefix(got, want) || strings.Contains(got, "Who acts: no one") {
				t.Errorf("%s with reason %q: runbook %q, want %q", r.name, reason, got, want)
			}
		}
		if got := fillIn(t, r.summary, "team-a", "Reason"); got == "" || strings.Contains(got, "<no value>") {
			t.Errorf("%s: summary %q", r.name, got)
		}
	}
}

func TestRunbookLine(t *testing.T) {
	cases := map[string]struct {
		reason    string
		alert     string
		namespace string
		label     string
		want      string
	}{
		"Actor": {
			reason: "Advice that points at a message is followed by what shows it.", alert: "IntentDeploymentFailed", namespace: "team-a", label: "InvalidSpec",
			want: "Who acts: the author. Correct the field named in the message. The message: kubectl intent why shop -n team-a.",
		},
		"NoActor": {
			reason: "An alert whose reason no one acts on does not say so: something is wrong all the same.",
			alert:  "IntentDeploymentFailed", namespace: "team-a", label: "Idle",
			want: "The message says why. The message: kubectl intent why shop -n team-a.",
		},
		"OfRule": {
			reason: "A rule about one reason shows the message, too.", alert: "IntentDeploymentRolledBack", namespace: "team-a",
			want: "Who acts: the author. Correct the cause named in the message, and change the intent; kubectl intent retry delivers the same " +
				"revision again. The message: kubectl intent why shop -n team-a.",
		},
		"Pods": {
			reason: "An Application repeats the reason of its pods, and the advice about that.",
			alert:  "ApplicationDegraded", namespace: "team-a", label: "CrashLoopBackOff",
			want: "Who acts: the author. Read the log of the container named in the message, and correct the service. The message: kubectl intent why shop -n team-a.",
		},
		"Delivery": {
			reason: "The name of a GitDelivery is not one of a deployment.", alert: "RepositoryUnreachable", namespace: "team-a", label: "FromTomorrow",
			want: "The message says why. The message: kubectl describe gitdeliveries.delivery.intentplane.dev shop -n team-a.",
		},
		"Config": {
			reason: "The configuration of a namespace is looked at there.", alert: "ConfigurationNotReady", namespace: "team-a", label: "AuthFailed",
			want: "Who acts: the platform team. Correct the credentials in the Secret of the configuration. The message: kubectl describe " +
				"providerconfigs.config.intentplane.dev -n team-a shop.",
		},
		"ClusterConfig": {
			reason: "The command for a ClusterProviderConfig names no namespace.", alert: "ConfigurationNotReady", label: "AuthFailed",
			want: "Who acts: the platform team. Correct the credentials in the Secret of the configuration. The message: kubectl describe " +
				"clusterproviderconfigs.config.intentplane.dev shop.",
		},
		"Installation": {
			reason: "The installation has no object with a message.", alert: "IntentplaneProviderGone",
			want: "Who acts: the platform team. Start the provider: kubectl get providers.pkg.crossplane.io, then check its Pod.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := allAlertRules()
			r := all[slices.IndexFunc(all, func(r rule) bool { return r.name == tc.alert })]
			if diff := cmp.Diff(tc.want, fillIn(t, r.runbookLine(), tc.namespace, tc.label)); diff != "" {
				t.Errorf("\n%s\nrunbookLine(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// fillIn a text of an alert with labels.
func fillIn(t *testing.T, text, namespace, reason string) string {
	t.Helper()
	parsed, err := template.New("").Parse("{{ $labels := .Labels }}{{ $value := .Value }}" + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b := &bytes.Buffer{}
	labels := map[string]string{"name": "shop", "namespace": namespace, "reason": reason, "revision": "7", "phase": "Failed", "customresource_kind": "XBundle"}
	if err := parsed.Execute(b, map[string]any{"Labels": labels, "Value": 2}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDashboardSchema reads the dashboard that is shipped with Grafana's own schema: fields that are unknown or missing, and values of another type, are errors.
func TestDashboardSchema(t *testing.T) {
	registry := cog.NewRuntime()
	for _, c := range []variants.PanelcfgConfig{timeseries.VariantConfig(), stat.VariantConfig(), table.VariantConfig()} {
		registry.RegisterPanelcfgVariant(c)
	}
	registry.RegisterDataqueryVariant(prometheus.VariantConfig())
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
	if len(d.Panels) != len(dashboardViews()) {
		t.Errorf("Grafana's schema reads %d panels, want %d", len(d.Panels), len(dashboardViews()))
	}
}

// TestDashboard holds for what Grafana needs of a dashboard: panels with names of their own that do not overlap, and queries.
func TestDashboard(t *testing.T) {
	d := newDashboard()
	places, titles := map[gridPos]bool{}, map[string]bool{}
	for _, p := range d.Panels {
		if places[p.GridPos] || titles[p.Title] || p.GridPos.X+p.GridPos.W > columns {
			t.Errorf("panel %q at %+v: the place or the title is taken, or it is outside", p.Title, p.GridPos)
		}
		places[p.GridPos], titles[p.Title] = true, true
		if len(p.Targets) != 1 || p.Targets[0].Expr == "" || p.Datasource.UID != "${"+d.Templating.List[0].Name+"}" {
			t.Errorf("panel %q: %+v", p.Title, p)
		}
	}
}
