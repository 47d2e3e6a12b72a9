package alerting

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
)

const (
	// buildInfo is the metric that function and provider always have.
	buildInfo = "intentplane_build_info"

	// programs is how many there are: the provider and the function.
	programs = 2

	// held is how long each of two snapshots lasts for promtool. No alert waits longer.
	held = 90 * time.Minute

	// poll is the time between two queries to the server.
	poll = 250 * time.Millisecond
)

// An Observer asks a Prometheus server, which scrapes an installation, about the series of one namespace.
type Observer struct {
	Server    *promserver.Server
	Namespace string
}

// ScrapeJobs returns jobs that scrape the provider and the function of a control plane at an interval.
func ScrapeJobs(cp *controlplane.ControlPlane, interval time.Duration) []promserver.Job {
	return []promserver.Job{
		{Name: "provider", Interval: interval, Target: promserver.NewTargetAt(cp.ProviderMetricsAddress())},
		{Name: "function", Interval: interval, Target: promserver.NewTargetAt(cp.FunctionMetricsAddress())},
	}
}

// A Snapshot has the scraped series of one time.
type Snapshot struct {
	at     time.Time
	series model.Vector
}

// TakeSnapshot waits until the server has scraped the provider and the function, and returns the series of the metrics that the alerts name.
func (o Observer) TakeSnapshot(t *testing.T) Snapshot {
	t.Helper()
	o.awaitNoneMissing(t, func() string {
		if scraped := o.queryServer(t, buildInfo, time.Now()); len(scraped) < programs {
			return fmt.Sprintf("the provider and the function are not scraped both: %v", scraped)
		}
		return ""
	})
	return o.snapshotNow(t)
}

func (o Observer) snapshotNow(t *testing.T) Snapshot {
	t.Helper()
	m := Snapshot{at: time.Now()}
	m.series = o.alertSeriesAt(t, m.at)
	return m
}

// alertSeriesAt returns the server's series, at a moment, of the metrics that the alerts name.
func (o Observer) alertSeriesAt(t *testing.T, timestamp time.Time) model.Vector {
	t.Helper()
	return o.queryServer(t, fmt.Sprintf("{__name__=~%q}", strings.Join(metricsOfAlerts(t, ReadAlerts(t)), "|")), timestamp)
}

// areAboutAbsence is true if one of the alerts fires when a program reports no metrics any more.
func areAboutAbsence(all []Alert) bool {
	return slices.ContainsFunc(all, func(a Alert) bool { return strings.HasSuffix(a.Name, "Gone") })
}

func (o Observer) queryServer(t *testing.T, query string, timestamp time.Time) model.Vector {
	t.Helper()
	v, err := o.Server.QueryAt(t.Context(), query, timestamp)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ExpectFiring waits until the expressions of some alerts hold for the namespace. Then promtool gets series in which the snapshot before
// lasts for long, and after it this one: no alert fires in the first, and in the second one only the named alerts, each with the labels and
// the text of the scraped series.
func (o Observer) ExpectFiring(t *testing.T, previous Snapshot, names ...string) {
	t.Helper()
	all := ReadAlerts(t)
	var wanted []Alert
	for _, name := range names {
		wanted = append(wanted, FindAlert(t, all, name))
	}
	current, firing := o.awaitAlerts(t, wanted)
	shared := append(metricsOfAlerts(t, wanted), buildInfo)
	var tests []any
	for _, a := range all {
		tests = append(tests, a.alertRuleTest(t, held-time.Minute, nil), a.alertRuleTest(t, 2*held-time.Minute, firing[a.Name]))
	}
	if err := runPromtool(t, all, joinSnapshots(o.relevantSeries(previous, shared), o.relevantSeries(current, shared)), tests); err != nil {
		t.Errorf("want %v to fire, and no other alert: %v", names, err)
	}
}

// awaitAlerts waits until the expression of each alert holds for the namespace, and returns the snapshot of that moment, and the firings of
// each alert. A moment counts once all of its scrapes have come in, and if it has both programs, unless an alert is about a missing program:
// a busy machine does not answer each scrape in time.
func (o Observer) awaitAlerts(t *testing.T, wanted []Alert) (Snapshot, map[string][]Firing) {
	t.Helper()
	var m Snapshot
	firing := map[string][]Firing{}
	o.awaitNoneMissing(t, func() string {
		m = o.snapshotNow(t)
		missing := []string{}
		for _, a := range wanted {
			if firing[a.Name] = o.firingsOfAlert(t, a, m.at); len(firing[a.Name]) == 0 {
				missing = append(missing, a.Name)
			}
		}
		switch {
		case len(missing) > 0:
		case !cmp.Equal(m.series, o.alertSeriesAt(t, m.at)):
			return "the server still stores scraped samples"
		case !areAboutAbsence(wanted) && len(o.queryServer(t, buildInfo, m.at)) < programs:
			return "the provider and the function are not scraped both"
		default:
			return ""
		}
		scraped := slices.Sorted(maps.Keys(o.relevantSeries(m, metricsOfAlerts(t, wanted))))
		return fmt.Sprintf("the expressions of %v do not hold for %s; the server scraped:\n%s", missing, o.Namespace, strings.Join(scraped, "\n"))
	})
	return m, firing
}

// awaitNoneMissing asks until nothing is missing any more.
func (o Observer) awaitNoneMissing(t *testing.T, missing func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		problem := missing()
		if problem == "" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal(problem)
		}
	}
}

// firingsOfAlert returns the firings of an alert for the namespace once it has waited.
func (o Observer) firingsOfAlert(t *testing.T, a Alert, timestamp time.Time) []Firing {
	t.Helper()
	var out []Firing
	for _, s := range o.queryServer(t, a.Expr, timestamp) {
		if !o.isOfAnother(s.Metric) {
			out = append(out, Firing{Alert: a, SeriesLabels: labelsOfMetric(s.Metric), Value: float64(s.Value)})
		}
	}
	return out
}

// isOfAnother is true for a series of an object that does not belong to the namespace.
func (o Observer) isOfAnother(m model.Metric) bool {
	if ns, ok := m["namespace"]; ok {
		return string(ns) != o.Namespace
	}
	name, ok := m["name"]
	return ok && !strings.HasPrefix(string(name), o.Namespace)
}

// relevantSeries returns the values of the series of a snapshot that are about the objects of the namespace, and of some metrics that are about no object.
func (o Observer) relevantSeries(m Snapshot, shared []string) map[string]model.SampleValue {
	out := map[string]model.SampleValue{}
	for _, s := range m.series {
		_, isNamed := s.Metric["name"]
		if !o.isOfAnother(s.Metric) && (isNamed || slices.Contains(shared, string(s.Metric[model.MetricNameLabel]))) {
			out[s.Metric.String()] = s.Value
		}
	}
	return out
}

func labelsOfMetric(m model.Metric) map[string]string {
	out := map[string]string{}
	for name, value := range m {
		if name != model.MetricNameLabel {
			out[string(name)] = string(value)
		}
	}
	return out
}

// joinSnapshots returns series, as promtool reads them, with the values of one snapshot for long, followed by the values of another.
func joinSnapshots(previous, current map[string]model.SampleValue) map[string]string {
	minutes := int(held.Minutes())
	out := map[string]string{}
	for name, value := range previous {
		out[name] = fmt.Sprintf("%v+0x%d stale", value, minutes-1)
	}
	for name, value := range current {
		out[name] = fmt.Sprintf("_x%d %v+0x%d", minutes, value, minutes)
		if first, ok := previous[name]; ok {
			out[name] = fmt.Sprintf("%v+0x%d %v+0x%d", first, minutes-1, value, minutes)
		}
	}
	return out
}

// metricsOfAlerts returns the names of the metrics in the expressions of some alerts.
func metricsOfAlerts(t *testing.T, all []Alert) []string {
	t.Helper()
	names := map[string]bool{}
	for _, a := range all {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(a.Expr)
		if err != nil {
			t.Fatalf("%s: %v", a.Name, err)
		}
		parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
			if s, ok := n.(*parser.VectorSelector); ok {
				names[s.Name] = true
			}
			return nil
		})
	}
	return slices.Sorted(maps.Keys(names))
}
