// Package releases measures revisions: their cost at Crossplane's circuit breaker and in pushes, and how fast a bad revision is taken back.
package releases

import (
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

// A room is the stage with the measurements of this package.
type room struct{ *stage.Stage }

// Figures are the costs of releases at once and in several repositories, and of releases that share requests between two tracks.
func Figures(s *stage.Stage) []series.Figure {
	r := &room{Stage: s}
	return append(storyFigures(r), canaryFigures(r)...)
}

// storyFigures are the costs of releases on a control plane: events of Crossplane, and pushes.
func storyFigures(s *room) []series.Figure {
	t, r := (&story{s: s}).figureSeries(), &spread{s: s}
	return []series.Figure{
		series.NewFigure("breaker_tokens_10_sites", "tokens", t.Figure("ungated")),
		series.NewFigure("breaker_tokens_10_sites_gated", "tokens", t.Figure("one")),
		series.NewFigure("breaker_tokens_rollback_story", "tokens", t.Figure("story")),
		series.NewFigure("slo_breach_to_rollback_s", "s", t.Figure("breach")),
		series.NewFigure("orphan_rollback_s", "s", t.Figure("orphan")),
		series.NewFigure("ledger_pushes_1_repo", "pushes", r.ledgerPushes(1, false)),
		series.NewFigure("ledger_pushes_3_repos_3_waves", "pushes", r.ledgerPushes(spreadRepositories, true)),
		series.NewFigure("ledger_follower_delay_ms", "ms", r.followerDelay),
	}
}

// canaryFigures are the figures of releases that share requests between two tracks.
func canaryFigures(s *room) []series.Figure {
	c := (&canary{s: s}).figureSeries()
	return []series.Figure{
		series.NewFigure("breaker_tokens_canary_story", "tokens", c.Figure("tokens")),
		series.NewFigure("step_to_weight_live_s", "s", c.Figure("lag")),
		series.NewFigure("canary_pods_made", "pods", c.Figure("pods")),
		series.NewFigure("canary_stable_pods_made", "pods", c.Figure("stable_pods")),
		series.NewFigure("mandate_bytes", "bytes", c.Figure("mandate")),
		series.NewFigure("breaker_tokens_second_canary", "tokens", c.Figure("second")),
		series.NewFigure("canary_breach_to_weight_zero_s", "s", c.Figure("breach")),
		series.NewFigure("orphan_breach_to_weight_zero_s", "s", c.Figure("orphan_breach")),
		series.NewFigure("orphan_abort_to_weight_zero_s", "s", c.Figure("orphan_abort")),
		series.NewFigure("weight_share_error", "points", c.Figure("share")),
		series.NewFigure("pause_error_s", "s", c.Figure("pause")),
		series.NewFigure("paused_writes", "writes", c.Figure("writes")),
		series.NewFigure("canary_failed_requests", "requests", c.Figure("failed")),
	}
}
