package pages

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/telemetry"
)

// TestAlerts parses the queries of all alerts that the pages show, and compares their metrics with the metrics of the provider. The gauges without
// labels, which exist for alerts alone, are among them.
func TestAlerts(t *testing.T) {
	var all []string
	files := os.DirFS("../../docs")
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		b, err := fs.ReadFile(files, name)
		for _, query := range alertsOnPage(string(b)) {
			all = append(all, query)
			if wrong := alertQueryError(query); wrong != "" {
				t.Errorf("%s shows an alert that cannot work: %s: %s", name, query, wrong)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range telemetry.Families() {
		asks := func(query string) bool { return strings.Contains(query, f.Name) }
		if f.Now && len(f.Labels) == 0 && !slices.ContainsFunc(all, asks) {
			t.Errorf("no page shows an alert about %s", f.Name)
		}
	}
}

// TestReadyMadeAlerts compares the table of alerts with the alerts of package/observability.
func TestReadyMadeAlerts(t *testing.T) {
	rules, err := os.ReadFile("../../package/observability/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert  string            `json:"alert"`
					For    string            `json:"for"`
					Labels map[string]string `json:"labels"`
				} `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(rules, &manifest); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, g := range manifest.Spec.Groups {
		for _, r := range g.Rules {
			want[r.Alert] = r.For + " " + r.Labels["severity"]
		}
	}
	page, err := os.ReadFile("../../docs/operations/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, alertRowsOf(string(page))); diff != "" {
		t.Errorf("docs/operations/monitoring.md lists other alerts than package/observability/alerts.yaml: -want, +got:\n%s", diff)
	}
}

func TestWrongAlert(t *testing.T) {
	cases := map[string]struct {
		reason string
		query  string
		want   string
	}{
		"Right":     {reason: "An alert may ask for a metric by its labels.", query: `sum(intentdeployment_current{phase="Failed"}) > 0`},
		"Histogram": {reason: "An alert may ask for the parts of a histogram.", query: `sum(rate(intentdeployment_sync_duration_seconds_count[1h])) > 0`},
		"NoHistogram": {
			reason: "A counter has no buckets.",
			query:  `intentdeployment_rollback_total_bucket`, want: "the provider has no metric intentdeployment_rollback_total_bucket",
		},
		"NoMetric": {
			reason: "An alert about a metric that went never fires.",
			query:  `sum(intentdeployment_gone) > 0`, want: "the provider has no metric intentdeployment_gone",
		},
		"NoLabel": {
			reason: "An alert by a label that a metric does not have never fires.",
			query:  `intentdeployment_current{name="shop"}`, want: "intentdeployment_current has no label name",
		},
		"Unparsable": {reason: "Prometheus does not load a query that does not parse.", query: `sum(`, want: "1:5: parse error: unclosed left parenthesis"},
		"SecondIsGone": {
			reason: "Each metric of a query has to exist.",
			query:  `intentdeployment_current / intentdeployment_gone`, want: "the provider has no metric intentdeployment_gone",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, alertQueryError(tc.query)); diff != "" {
				t.Errorf("\n%s\nwrongAlert(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAlertsOf(t *testing.T) {
	page := "# Page\n\n```promql\n# Comment.\na > 0\n\nb > 0\n```\n\n```yaml\n- alert: C\n  expr: c > 5\n```\n\n```sh\nd\n```\n"
	if diff := cmp.Diff([]string{"a > 0", "b > 0", "c > 5"}, alertsOnPage(page)); diff != "" {
		t.Errorf("alertsOf(...): -want, +got:\n%s", diff)
	}
}
