package main

import (
	"context"
	"slices"
)

// A figure is something to measure.
type figure struct {
	name    string
	unit    string
	measure func(ctx context.Context) (float64, error)
}

// allFigures returns all figures in the order in which they are measured: figures that need a machine for themselves come last.
func allFigures(s *stage) []figure {
	alone := slices.Concat(stateFigures(), functionFigures(), gitFigures())
	for i := range alone {
		alone[i].measure = s.withoutControlPlane(alone[i].measure)
	}
	return slices.Concat(eventFigures(s), canaryFigures(s), providerFigures(s), hostileTotalFigures(s), idleFigures(s), applicationFigures(s), bundleFigures(s), notificationFigures(s), besideFigures(s), writeFigures(s), thousandFigures(s), pluginFigures(s), alone)
}

// eventFigures are the costs of releases on a control plane: events of Crossplane, and pushes.
func eventFigures(s *stage) []figure {
	t, r := &story{s: s}, &spread{s: s}
	return []figure{
		{"harness_start_s", "s", s.measureStart},
		{"breaker_tokens_1_site", "tokens", s.breakerTokens(1)},
		{"breaker_tokens_10_sites", "tokens", t.storyFigure("ungated")},
		{"breaker_tokens_10_sites_gated", "tokens", t.storyFigure("one")},
		{"breaker_tokens_rollback_story", "tokens", t.storyFigure("story")},
		{"slo_breach_to_rollback_s", "s", t.storyFigure("breach")},
		{"ledger_pushes_1_repo", "pushes", r.ledgerPushes(1, false)},
		{"ledger_pushes_3_repos_3_waves", "pushes", r.ledgerPushes(spreadRepositories, true)},
		{"ledger_follower_delay_ms", "ms", r.followerDelay},
	}
}

// canaryFigures are the figures of releases that share requests between two tracks.
func canaryFigures(s *stage) []figure {
	c := &canary{s: s}
	return []figure{
		{"breaker_tokens_canary_story", "tokens", c.canaryFigure("tokens", (*canary).measureSteps)},
		{"step_to_weight_live_s", "s", c.canaryFigure("lag", (*canary).measureSteps)},
		{"canary_pods_made", "pods", c.canaryFigure("pods", (*canary).measureSteps)},
		{"canary_stable_pods_made", "pods", c.canaryFigure("stable_pods", (*canary).measureSteps)},
		{"canary_breach_to_weight_zero_s", "s", c.canaryFigure("breach", (*canary).measureCanaryBreach)},
		{"weight_share_error", "points", c.canaryFigure("share", (*canary).measureShares)},
		{"pause_error_s", "s", c.canaryFigure("pause", (*canary).measurePauses)},
		{"paused_writes", "writes", c.canaryFigure("writes", (*canary).measurePauses)},
		{"canary_failed_requests", "requests", c.canaryFigure("failed", (*canary).measureAll)},
	}
}

// providerFigures are the provider's speed of delivery, and its resources with Gates.
func providerFigures(s *stage) []figure {
	g := &judged{s: s}
	return []figure{
		{"claim_to_commit_ms", "ms", s.timeToCommit},
		{"claim_to_succeeded_ms", "ms", s.timeToSucceeded},
		{"provider_rss_mib", "MiB", s.providerMemory("VmRSS")},
		{"provider_peak_rss_mib", "MiB", s.providerMemory("VmHWM")},
		{"gates_200_cpu_percent", "%", g.gateFigure("cpu_percent")},
		{"gates_200_queries_per_interval", "1/interval", g.gateFigure("queries")},
		{"hostile_cluster_peak_mib", "MiB", s.hostilePeak},
		{"flux_proof_s", "s", s.fluxProof},
		{"delivery_p99_s", "s", s.deliveryP99},
		{"deliveries_ready_per_s", "1/s", s.readyRate},
		{"neighbour_delay_ratio", "times", s.neighbourDelay},
	}
}

// idleFigures are the cost of a control plane without requests.
func idleFigures(s *stage) []figure {
	y, f := &steady{s: s}, &fleet{s: s}
	return []figure{
		{"steady_commits", "commits", y.steadyFigure("commits")},
		{"steady_status_writes", "writes", y.steadyFigure("writes")},
		{"config_ready_writes", "writes", y.steadyFigure("configs")},
		{"steady_remote_looks", "1/interval", y.steadyFigure("looks")},
		{"steady_cpu_percent", "%", y.steadyFigure("cpu_percent")},
		{"steady_rss_mib", "MiB", y.steadyFigure("rss_mib")},
		{"steady_peak_rss_mib", "MiB", y.steadyFigure("peak_rss_mib")},
		{"clusters_300_cpu_percent", "%", f.fleetFigure("cpu_percent")},
		{"cluster_status_writes_per_min", "1/min", f.fleetFigure("writes")},
	}
}

// stateFigures are the figures of the state branch, and of pruning it and the directories.
func stateFigures() []figure {
	r := &records{}
	return []figure{
		{"state_modify_ms", "ms", r.recordFigure("modify")},
		{"state_writers_lost", "changes", r.recordFigure("lost")},
		{"state_10000_bytes", "bytes", r.recordFigure("bytes")},
		{"prune_wrong", "plans", wrongPlans},
		{"prune_plan_5000_dirs_s", "s", pruneFigure("plan_s")},
		{"prune_500_commits", "commits", pruneFigure("commits")},
	}
}

// functionFigures are the cost of calls of the function, and of each part of them.
func functionFigures() []figure {
	return []figure{
		{"render_cold_over_kustomize", "times", callFigure("cold", "render_cold_over_kustomize", medianOfValues)},
		{"render_warm_over_decode", "times", callFigure("warm", "render_warm_over_decode", medianOfValues)},
		{"render_changed_over_decode", "times", callFigure("changed", "render_changed_over_decode", medianOfValues)},
		{"allocated_over_request", "times", callFigure("warm", "allocated_over_request", medianOfValues)},
		{"request_bytes", "bytes", callFigure("warm", "request_bytes", medianOfValues)},
		{"canary_call_over_decode", "times", canaryCall},
		{"status_all_over_fetch", "times", statusOverFetch},
		{"render_1000_objects_s", "s", callFigure("cold1000", "render_1000_objects_s", slices.Min[[]float64])},
		{"render_1000_objects_cpu_s", "s", callFigure("cold1000", "render_1000_objects_cpu_s", medianOfValues)},
		{"function_rss_mib", "MiB", claimsMemory("function_rss_mib")},
		{"function_peak_rss_mib", "MiB", claimsMemory("function_peak_rss_mib")},
		{"phase_us", "us", decisionTime},
		{"step_us", "us", stepTime},
		{"render_20_objects_ms", "ms", renderTime},
		{"render_ratio_vs_kustomize", "times", renderRatio},
	}
}

// gitFigures are the provider's speed with a repository, and counts of its results, without Kubernetes.
func gitFigures() []figure {
	e, l := &engine{}, &large{}
	return []figure{
		{"git_engine_per_s", "1/s", e.deliverTogether},
		{"git_engine_over_cli", "times", e.overCommand},
		{"git_engine_ungrouped_over_cli", "times", e.aloneOverCommand},
		{"big_repo_first_s", "s", l.largeFigure("s/first")},
		{"big_repo_delivery_s", "s", l.largeFigure("s/delivery")},
		{"big_repo_rss_mib", "MiB", l.largeFigure("MiB")},
		{"hostile_pack_peak_mib", "MiB", hostilePack},
		{"managed_metrics_5000_ms", "ms", stateMetrics("managed_metrics_5000_ms")},
		{"managed_metrics_5000_mib", "MiB", stateMetrics("managed_metrics_5000_mib")},
		{"git_deliveries_per_s", "1/s", deliverySeries},
		{"git_deliveries_ratio_vs_git", "times", deliveryRatio},
	}
}
