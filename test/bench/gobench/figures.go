// Package gobench measures figures without a control plane: by Go's benchmarks of this project, by the git command, and on an API server alone.
package gobench

import (
	"slices"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stats"
)

// StateFigures are the figures of the state branch, and of pruning it and the directories.
func StateFigures() []series.Figure {
	r := recordSeries()
	return []series.Figure{
		series.NewFigure("state_modify_ms", "ms", r.Figure("modify")),
		series.NewFigure("state_writers_lost", "changes", r.Figure("lost")),
		series.NewFigure("state_10000_bytes", "bytes", r.Figure("bytes")),
		series.NewFigure("prune_wrong", "plans", countWrongPlans),
		series.NewFigure("prune_plan_5000_dirs_s", "s", pruneFigure("plan_s")),
		series.NewFigure("prune_500_commits", "commits", pruneFigure("commits")),
	}
}

// FunctionFigures are the cost of calls of the function, and of each part of them.
func FunctionFigures() []series.Figure {
	return []series.Figure{
		series.NewFigure("render_cold_over_kustomize", "times", measureCallMetric("cold", "render_cold_over_kustomize", stats.Median)),
		series.NewFigure("render_warm_over_decode", "times", measureCallMetric("warm", "render_warm_over_decode", stats.Median)),
		series.NewFigure("render_changed_over_decode", "times", measureCallMetric("changed", "render_changed_over_decode", stats.Median)),
		series.NewFigure("allocated_over_request", "times", measureCallMetric("warm", "allocated_over_request", stats.Median)),
		series.NewFigure("request_bytes", "bytes", measureCallMetric("warm", "request_bytes", stats.Median)),
		series.NewFigure("canary_call_over_decode", "times", measureCanaryCall),
		series.NewFigure("status_all_over_fetch", "times", statusOverFetch),
		series.NewFigure("render_1000_objects_s", "s", measureCallMetric("cold1000", "render_1000_objects_s", slices.Min[[]float64])),
		series.NewFigure("render_1000_objects_cpu_s", "s", measureCallMetric("cold1000", "render_1000_objects_cpu_s", stats.Median)),
		series.NewFigure("function_rss_mib", "MiB", claimsMemory("function_rss_mib")),
		series.NewFigure("function_peak_rss_mib", "MiB", claimsMemory("function_peak_rss_mib")),
		series.NewFigure("phase_us", "us", decisionTime),
		series.NewFigure("step_us", "us", measureStepTime),
		series.NewFigure("conclude_us", "us", concludeTime),
		series.NewFigure("render_20_objects_ms", "ms", measureRenderTime),
		series.NewFigure("render_ratio_vs_kustomize", "times", renderRatio),
	}
}

// GitFigures are the provider's speed with a repository, and counts of its results, without Kubernetes.
func GitFigures() []series.Figure {
	e, l := &engine{}, largeSeries()
	return []series.Figure{
		series.NewFigure("git_engine_per_s", "1/s", e.deliverTogether),
		series.NewFigure("git_engine_over_cli", "times", e.overCommand),
		series.NewFigure("git_engine_ungrouped_over_cli", "times", e.aloneOverCommand),
		series.NewFigure("big_repo_first_s", "s", l.Figure("s/first")),
		series.NewFigure("big_repo_delivery_s", "s", l.Figure("s/delivery")),
		series.NewFigure("big_repo_rss_mib", "MiB", l.Figure("MiB")),
		series.NewFigure("hostile_pack_peak_mib", "MiB", hostilePack),
		series.NewFigure("managed_metrics_5000_ms", "ms", stateMetrics("managed_metrics_5000_ms")),
		series.NewFigure("managed_metrics_5000_mib", "MiB", stateMetrics("managed_metrics_5000_mib")),
		series.NewFigure("git_deliveries_per_s", "1/s", deliverySeries),
		series.NewFigure("git_deliveries_ratio_vs_git", "times", deliveryRatio),
	}
}
