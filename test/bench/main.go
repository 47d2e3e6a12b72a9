// Command bench measures every figure that the project claims, on a real control plane, and prints each as one line:
//
//	figure NAME VALUE UNIT
//
// With arguments it measures the figures of these names only, which may be patterns such as steady_*. What a figure is compared with is
// measured in the same run.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A figure is something to measure.
type figure struct {
	name    string
	unit    string
	measure func(ctx context.Context) (float64, error)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := runFigures(ctx, strings.Join(os.Args[1:], " "))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func runFigures(ctx context.Context, only string) error {
	s := &stage{}
	err := measureFigures(ctx, allFigures(s), only)
	return errors.Join(err, s.closeControlPlane())
}

func measureFigures(ctx context.Context, all []figure, only string) error {
	known := false
	for _, f := range all {
		if !isWanted(f.name, only) {
			continue
		}
		known = true
		v, err := f.measure(ctx)
		if err != nil {
			return errors.Wrapf(err, "cannot measure %s", f.name)
		}
		fmt.Printf("figure %s %.4g %s\n", f.name, v, f.unit)
	}
	if !known {
		return errors.Errorf("cannot measure %q: it is not a figure", only)
	}
	return nil
}

// isWanted is true for the name of a figure that one of some patterns matches, between which there are spaces. Without any, all are wanted.
func isWanted(name, patterns string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		is, err := path.Match(pattern, name)
		return is && err == nil
	})
}

// allFigures returns them in the order in which they are measured: what needs a machine for itself comes last.
func allFigures(s *stage) []figure {
	e, l, y, t, g, c, r, b, w := &engine{}, &large{}, &steady{s: s}, &story{s: s}, &judged{s: s}, &fleet{s: s}, &spread{s: s}, &records{}, &canary{s: s}
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
		{"breaker_tokens_canary_story", "tokens", w.canaryFigure("tokens", (*canary).measureSteps)},
		{"step_to_weight_live_s", "s", w.canaryFigure("lag", (*canary).measureSteps)},
		{"canary_pods_made", "pods", w.canaryFigure("pods", (*canary).measureSteps)},
		{"canary_stable_pods_made", "pods", w.canaryFigure("stable_pods", (*canary).measureSteps)},
		{"canary_breach_to_weight_zero_s", "s", w.canaryFigure("breach", (*canary).measureCanaryBreach)},
		{"weight_share_error", "points", w.canaryFigure("share", (*canary).measureShares)},
		{"pause_error_s", "s", w.canaryFigure("pause", (*canary).measurePauses)},
		{"paused_writes", "writes", w.canaryFigure("writes", (*canary).measurePauses)},
		{"canary_failed_requests", "requests", w.canaryFigure("failed", (*canary).measureAll)},
		{"claim_to_commit_ms", "ms", s.toCommit},
		{"claim_to_succeeded_ms", "ms", s.toSucceeded},
		{"provider_rss_mib", "MiB", s.providerMemory("VmRSS")},
		{"provider_peak_rss_mib", "MiB", s.providerMemory("VmHWM")},
		{"gates_200_cpu_percent", "%", g.gateFigure("cpu_percent")},
		{"gates_200_queries_per_interval", "1/interval", g.gateFigure("queries")},
		{"hostile_cluster_peak_mib", "MiB", s.hostilePeak},
		{"flux_proof_s", "s", s.fluxProof},
		{"delivery_p99_s", "s", s.deliveryP99},
		{"deliveries_ready_per_s", "1/s", s.readyRate},
		{"neighbour_delay_ratio", "times", s.neighbourDelay},
		{"steady_commits", "commits", y.steadyFigure("commits")},
		{"steady_status_writes", "writes", y.steadyFigure("writes")},
		{"steady_remote_looks", "1/interval", y.steadyFigure("looks")},
		{"steady_cpu_percent", "%", y.steadyFigure("cpu_percent")},
		{"steady_rss_mib", "MiB", y.steadyFigure("rss_mib")},
		{"steady_peak_rss_mib", "MiB", y.steadyFigure("peak_rss_mib")},
		{"clusters_300_cpu_percent", "%", c.fleetFigure("cpu_percent")},
		{"cluster_status_writes_per_min", "1/min", c.fleetFigure("writes")},
		{"state_modify_ms", "ms", s.withoutControlPlane(b.recordFigure("modify"))},
		{"state_writers_lost", "changes", s.withoutControlPlane(b.recordFigure("lost"))},
		{"state_10000_bytes", "bytes", s.withoutControlPlane(b.recordFigure("bytes"))},
		{"prune_wrong", "plans", s.withoutControlPlane(wrongPlans)},
		{"prune_plan_5000_dirs_s", "s", s.withoutControlPlane(pruneFigure("plan_s"))},
		{"prune_500_commits", "commits", s.withoutControlPlane(pruneFigure("commits"))},
		{"render_cold_over_kustomize", "times", s.withoutControlPlane(callFigure("cold", "render_cold_over_kustomize", medianOfValues))},
		{"render_warm_over_decode", "times", s.withoutControlPlane(callFigure("warm", "render_warm_over_decode", medianOfValues))},
		{"render_changed_over_decode", "times", s.withoutControlPlane(callFigure("changed", "render_changed_over_decode", medianOfValues))},
		{"allocated_over_request", "times", s.withoutControlPlane(callFigure("warm", "allocated_over_request", medianOfValues))},
		{"request_bytes", "bytes", s.withoutControlPlane(callFigure("warm", "request_bytes", medianOfValues))},
		{"canary_call_over_decode", "times", s.withoutControlPlane(canaryCall)},
		{"render_1000_objects_s", "s", s.withoutControlPlane(callFigure("cold1000", "render_1000_objects_s", slices.Min[[]float64]))},
		{"render_1000_objects_cpu_s", "s", s.withoutControlPlane(callFigure("cold1000", "render_1000_objects_cpu_s", medianOfValues))},
		{"function_rss_mib", "MiB", s.withoutControlPlane(claimsMemory("function_rss_mib"))},
		{"function_peak_rss_mib", "MiB", s.withoutControlPlane(claimsMemory("function_peak_rss_mib"))},
		{"phase_us", "us", s.withoutControlPlane(decisionTime)},
		{"step_us", "us", s.withoutControlPlane(stepTime)},
		{"render_20_objects_ms", "ms", s.withoutControlPlane(renderTime)},
		{"render_ratio_vs_kustomize", "times", s.withoutControlPlane(renderRatio)},
		{"git_engine_per_s", "1/s", s.withoutControlPlane(e.deliverTogether)},
		{"git_engine_over_cli", "times", s.withoutControlPlane(e.overCommand)},
		{"git_engine_ungrouped_over_cli", "times", s.withoutControlPlane(e.aloneOverCommand)},
		{"big_repo_first_s", "s", s.withoutControlPlane(l.largeFigure("s/first"))},
		{"big_repo_delivery_s", "s", s.withoutControlPlane(l.largeFigure("s/delivery"))},
		{"big_repo_rss_mib", "MiB", s.withoutControlPlane(l.largeFigure("MiB"))},
		{"hostile_pack_peak_mib", "MiB", s.withoutControlPlane(hostilePack)},
		{"git_deliveries_per_s", "1/s", s.withoutControlPlane(deliverySeries)},
		{"git_deliveries_ratio_vs_git", "times", s.withoutControlPlane(deliveryRatio)},
	}
}
