// Package deliveries measures the provider: deliveries, proofs and Gates, beside good and hostile tenants, and while nothing happens.
package deliveries

import (
	"slices"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

const namespace = stage.Namespace

// A room is the stage with the measurements of this package.
type room struct{ *stage.Stage }

// Figures are the provider's speed of delivery, its resources with Gates and beside hostile tenants, and the cost of a control plane without requests.
func Figures(s *stage.Stage) []series.Figure {
	r := &room{Stage: s}
	return slices.Concat(providerFigures(r), hostileTotalFigures(r), steadyFigures(r))
}

// providerFigures are the provider's speed of delivery, and its resources with Gates.
func providerFigures(s *room) []series.Figure {
	g := (&judged{s: s}).figureSeries()
	return []series.Figure{
		series.NewFigure("gates_200_cpu_percent", "%", g.Figure("cpu_percent")),
		series.NewFigure("gates_200_queries_per_interval", "1/interval", g.Figure("queries")),
		series.NewFigure("hostile_cluster_peak_mib", "MiB", s.hostilePeak),
		series.NewFigure("flux_proof_s", "s", s.measureFluxProof),
		series.NewFigure("delivery_p99_s", "s", s.deliveryP99),
		series.NewFigure("deliveries_ready_per_s", "1/s", s.measureReadyRate),
		series.NewFigure("neighbour_delay_ratio", "times", s.neighbourDelay),
	}
}

// steadyFigures are the cost of GitDeliveries to which nothing happens.
func steadyFigures(s *room) []series.Figure {
	y := (&steady{s: s}).figureSeries()
	return []series.Figure{
		series.NewFigure("steady_commits", "commits", y.Figure("commits")),
		series.NewFigure("steady_status_writes", "writes", y.Figure("writes")),
		series.NewFigure("config_ready_writes", "writes", y.Figure("configs")),
		series.NewFigure("steady_remote_looks", "1/interval", y.Figure("looks")),
		series.NewFigure("steady_cpu_percent", "%", y.Figure("cpu_percent")),
		series.NewFigure("steady_rss_mib", "MiB", y.Figure("rss_mib")),
		series.NewFigure("steady_peak_rss_mib", "MiB", y.Figure("peak_rss_mib")),
	}
}
