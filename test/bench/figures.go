package main

import (
	"context"
	"slices"

	"github.com/intentplane/intentplane/test/bench/gobench"
	"github.com/intentplane/intentplane/test/bench/plugin"
)

// A figure is something to measure.
type figure struct {
	name    string
	unit    string
	measure func(ctx context.Context) (float64, error)
}

// allFigures returns all figures in the order in which they are measured: figures that need a machine for themselves come last.
func allFigures(s *stage) []figure {
	alone := slices.Concat(processFigures(gobench.StateFigures()), processFigures(gobench.FunctionFigures()), processFigures(gobench.GitFigures()))
	for i := range alone {
		alone[i].measure = s.withoutControlPlane(alone[i].measure)
	}
	return slices.Concat(eventFigures(s), canaryFigures(s), providerFigures(s), hostileTotalFigures(s), idleFigures(s), applicationFigures(s), bundleFigures(s), notificationFigures(s), besideFigures(s), writeFigures(s), thousandFigures(s), pluginFigures(s), alone)
}

// eventFigures are the costs of releases on a control plane: events of Crossplane, and pushes.
func eventFigures(s *stage) []figure {
	t, r := (&story{s: s}).series(), &spread{s: s}
	return []figure{
		{"harness_start_s", "s", s.measureStart},
		{"breaker_tokens_1_site", "tokens", s.breakerTokens(1)},
		{"breaker_tokens_10_sites", "tokens", t.Figure("ungated")},
		{"breaker_tokens_10_sites_gated", "tokens", t.Figure("one")},
		{"breaker_tokens_rollback_story", "tokens", t.Figure("story")},
		{"slo_breach_to_rollback_s", "s", t.Figure("breach")},
		{"orphan_rollback_s", "s", t.Figure("orphan")},
		{"ledger_pushes_1_repo", "pushes", r.ledgerPushes(1, false)},
		{"ledger_pushes_3_repos_3_waves", "pushes", r.ledgerPushes(spreadRepositories, true)},
		{"ledger_follower_delay_ms", "ms", r.followerDelay},
	}
}

// canaryFigures are the figures of releases that share requests between two tracks.
func canaryFigures(s *stage) []figure {
	c := (&canary{s: s}).series()
	return []figure{
		{"breaker_tokens_canary_story", "tokens", c.Figure("tokens")},
		{"step_to_weight_live_s", "s", c.Figure("lag")},
		{"canary_pods_made", "pods", c.Figure("pods")},
		{"canary_stable_pods_made", "pods", c.Figure("stable_pods")},
		{"mandate_bytes", "bytes", c.Figure("mandate")},
		{"breaker_tokens_second_canary", "tokens", c.Figure("second")},
		{"canary_breach_to_weight_zero_s", "s", c.Figure("breach")},
		{"orphan_breach_to_weight_zero_s", "s", c.Figure("orphan_breach")},
		{"orphan_abort_to_weight_zero_s", "s", c.Figure("orphan_abort")},
		{"weight_share_error", "points", c.Figure("share")},
		{"pause_error_s", "s", c.Figure("pause")},
		{"paused_writes", "writes", c.Figure("writes")},
		{"canary_failed_requests", "requests", c.Figure("failed")},
	}
}

// providerFigures are the provider's speed of delivery, and its resources with Gates.
func providerFigures(s *stage) []figure {
	g := (&judged{s: s}).series()
	return []figure{
		{"claim_to_commit_ms", "ms", s.timeToCommit},
		{"claim_to_succeeded_ms", "ms", s.timeToSucceeded},
		{"provider_rss_mib", "MiB", s.providerMemory("VmRSS")},
		{"provider_peak_rss_mib", "MiB", s.providerMemory("VmHWM")},
		{"gates_200_cpu_percent", "%", g.Figure("cpu_percent")},
		{"gates_200_queries_per_interval", "1/interval", g.Figure("queries")},
		{"hostile_cluster_peak_mib", "MiB", s.hostilePeak},
		{"flux_proof_s", "s", s.fluxProof},
		{"delivery_p99_s", "s", s.deliveryP99},
		{"deliveries_ready_per_s", "1/s", s.readyRate},
		{"neighbour_delay_ratio", "times", s.neighbourDelay},
	}
}

// idleFigures are the cost of a control plane without requests.
func idleFigures(s *stage) []figure {
	y, f := (&steady{s: s}).series(), (&fleet{s: s}).series()
	return []figure{
		{"steady_commits", "commits", y.Figure("commits")},
		{"steady_status_writes", "writes", y.Figure("writes")},
		{"config_ready_writes", "writes", y.Figure("configs")},
		{"steady_remote_looks", "1/interval", y.Figure("looks")},
		{"steady_cpu_percent", "%", y.Figure("cpu_percent")},
		{"steady_rss_mib", "MiB", y.Figure("rss_mib")},
		{"steady_peak_rss_mib", "MiB", y.Figure("peak_rss_mib")},
		{"clusters_300_cpu_percent", "%", f.Figure("cpu_percent")},
		{"cluster_status_writes_per_min", "1/min", f.Figure("writes")},
	}
}

// processFigures returns figures that need no control plane of the stage.
func processFigures(all []gobench.Figure) []figure {
	out := make([]figure, 0, len(all))
	for _, f := range all {
		out = append(out, figure{name: f.Name, unit: f.Unit, measure: f.Measure})
	}
	return out
}

// pluginFigures are the response times of kubectl-intent, measured without a control plane of the stage.
func pluginFigures(s *stage) []figure {
	all := plugin.Figures()
	out := make([]figure, 0, len(all))
	for _, f := range all {
		out = append(out, figure{name: f.Name, unit: f.Unit, measure: s.withoutControlPlane(f.Measure)})
	}
	return out
}
