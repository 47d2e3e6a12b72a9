package deliveries

import (
	"context"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/promserver"
)

const (
	// judgedClaims of judgedPlace are in Validating at the same time, with judgedQuestions different queries.
	judgedPlace     = "judged"
	judgedClaims    = 200
	judgedQuestions = 20

	// judgedIntervals are measured, after warmIntervals.
	judgedIntervals = 12
	warmIntervals   = 3
)

// A judged is many Gates that measure.
type judged struct{ s *room }

func (y *judged) figureSeries() *series.Series {
	return &series.Series{Base: y.openControlPlane, Parts: []series.Part{{Figures: []string{"cpu_percent", "queries"}, Measure: y.measureGates}}}
}

// openControlPlane starts a provider of its own: earlier deliveries would stay in its memory.
func (y *judged) openControlPlane(ctx context.Context, _ map[string]float64) error {
	return y.s.OpenNew(ctx)
}

func (y *judged) measureGates(ctx context.Context, figures map[string]float64) error {
	dir, err := os.MkdirTemp("", "prometheus")
	if err != nil {
		return errors.Wrap(err, "cannot make directory")
	}
	defer func() { _ = os.RemoveAll(dir) }()
	target := promserver.NewTarget()
	defer target.Close()
	target.Set("error_ratio", 0.01)
	server, err := promserver.New(ctx, dir, promserver.Job{Name: "judged", Interval: time.Second, Target: target})
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	defer server.Stop()
	if err := y.createGates(ctx, server.URL()); err != nil {
		return err
	}
	if err := process.Wait(ctx, warmIntervals*stage.GateInterval); err != nil {
		return err
	}
	return y.countQueries(ctx, server.URL(), figures)
}

// createGates makes the claims' GitDeliveries and Gates, as the function would compose them, and waits until all Gates measure.
func (y *judged) createGates(ctx context.Context, prometheus string) error {
	l, err := load.New(y.s.CP)
	if err != nil {
		return err
	}
	if err := l.Measured(ctx, judgedPlace, stage.Often, prometheus); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stage.CrowdPatience)
	defer cancel()
	keys := load.Keys(judgedClaims, judgedPlace)
	if err := l.DeliverAll(ctx, keys); err != nil {
		return err
	}
	if err := l.Ready(ctx, judgedPlace, judgedClaims); err != nil {
		return err
	}
	if err := l.Judge(ctx, keys, stage.GateInterval, judgedQuestions); err != nil {
		return err
	}
	return l.Measuring(ctx, judgedPlace, judgedClaims)
}

// countQueries measures the provider's load, and counts the queries of the server.
func (y *judged) countQueries(ctx context.Context, prometheus string, figures map[string]float64) error {
	queries, err := answeredQueries(ctx, prometheus)
	if err != nil {
		return err
	}
	began := time.Now()
	percent, err := process.CPUPercent(y.s.CP.ProviderPID(), func() error { return process.Wait(ctx, judgedIntervals*stage.GateInterval) })
	if err != nil {
		return err
	}
	took := time.Since(began)
	endQueries, err := answeredQueries(ctx, prometheus)
	if err != nil {
		return err
	}
	figures["cpu_percent"], figures["queries"] = percent, (endQueries-queries)/(took.Seconds()/stage.GateInterval.Seconds())
	return nil
}

// answeredQueries returns the number of queries that a Prometheus server answered, as it counts them.
func answeredQueries(ctx context.Context, prometheus string) (float64, error) {
	m, err := controlplane.ScrapeURL(ctx, prometheus+"/metrics")
	return m.Sum("prometheus_http_requests_total", map[string]string{"handler": "/api/v1/query"}), err
}
