// Package gobench measures figures without a control plane: by Go's benchmarks of this project, by the git command, and on an API server alone.
package gobench

import (
	"context"
	"slices"

	"github.com/intentplane/intentplane/test/bench/stats"
)

// A Figure is a name, a unit and a function that measures the value.
type Figure struct {
	Name    string
	Unit    string
	Measure func(ctx context.Context) (float64, error)
}

// StateFigures are the figures of the state branch, and of pruning it and the directories.
func StateFigures() []Figure {
	r := recordSeries()
	return []Figure{
		{"state_modify_ms", "ms", r.Figure("modify")},
		{"state_writers_lost", "changes", r.Figure("lost")},
		{"state_10000_bytes", "bytes", r.Figure("bytes")},
		{"prune_wrong", "plans", wrongPlans},
		{"prune_plan_5000_dirs_s", "s", pruneFigure("plan_s")},
		{"prune_500_commits", "commits", pruneFigure("commits")},
	}
}

// FunctionFigures are the cost of calls of the function, and of each part of them.
func FunctionFigures() []Figure {
	return []Figure{
		{"render_cold_over_kustomize", "times", callFigure("cold", "render_cold_over_kustomize", stats.Median)},
		{"render_warm_over_decode", "times", callFigure("warm", "render_warm_over_decode", stats.Median)},
		{"render_changed_over_decode", "times", callFigure("changed", "render_changed_over_decode", stats.Median)},
		{"allocated_over_request", "times", callFigure("warm", "allocated_over_request", stats.Median)},
		{"request_bytes", "bytes", callFigure("warm", "request_bytes", stats.Median)},
		{"canary_call_over_decode", "times", canaryCall},
		{"status_all_over_fetch", "times", statusOverFetch},
		{"render_1000_objects_s", "s", callFigure("cold1000", "render_1000_objects_s", slices.Min[[]float64])},
		{"render_1000_objects_cpu_s", "s", callFigure("cold1000", "render_1000_objects_cpu_s", stats.Median)},
		{"function_rss_mib", "MiB", claimsMemory("function_rss_mib")},
		{"function_peak_rss_mib", "MiB", claimsMemory("function_peak_rss_mib")},
		{"phase_us", "us", decisionTime},
		{"step_us", "us", stepTime},
		{"conclude_us", "us", concludeTime},
		{"render_20_objects_ms", "ms", renderTime},
		{"render_ratio_vs_kustomize", "times", renderRatio},
	}
}

// GitFigures are the provider's speed with a repository, and counts of its results, without Kubernetes.
func GitFigures() []Figure {
	e, l := &engine{}, largeSeries()
	return []Figure{
		{"git_engine_per_s", "1/s", e.deliverTogether},
		{"git_engine_over_cli", "times", e.overCommand},
		{"git_engine_ungrouped_over_cli", "times", e.aloneOverCommand},
		{"big_repo_first_s", "s", l.Figure("s/first")},
		{"big_repo_delivery_s", "s", l.Figure("s/delivery")},
		{"big_repo_rss_mib", "MiB", l.Figure("MiB")},
		{"hostile_pack_peak_mib", "MiB", hostilePack},
		{"managed_metrics_5000_ms", "ms", stateMetrics("managed_metrics_5000_ms")},
		{"managed_metrics_5000_mib", "MiB", stateMetrics("managed_metrics_5000_mib")},
		{"git_deliveries_per_s", "1/s", deliverySeries},
		{"git_deliveries_ratio_vs_git", "times", deliveryRatio},
	}
}
