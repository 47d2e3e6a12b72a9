// Package crowds measures deployments: one alone, one after another, and hundreds that are made at once.
package crowds

import (
	"context"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane"
)

const (
	repository = stage.Repository
	namespace  = stage.Namespace
)

// A room is the stage with the measurements of this package.
type room struct {
	*stage.Stage

	latency series.Run[latency]
	// baselineOn is the control plane that has the baseline of composites.
	baselineOn *controlplane.ControlPlane
}

// ClaimFigures are the start of a control plane, the cost of its first claim, and the speed of the claims after it.
func ClaimFigures(s *stage.Stage) []series.Figure {
	r := &room{Stage: s}
	return []series.Figure{
		series.NewFigure("harness_start_s", "s", s.MeasureStart),
		series.NewFigure("breaker_tokens_1_site", "tokens", r.breakerTokens(1)),
		series.NewFigure("claim_to_commit_ms", "ms", r.timeToCommit),
		series.NewFigure("claim_to_succeeded_ms", "ms", r.timeToSucceeded),
		series.NewFigure("provider_rss_mib", "MiB", r.providerMemory("VmRSS")),
		series.NewFigure("provider_peak_rss_mib", "MiB", r.providerMemory("VmHWM")),
	}
}

// Figures are the cost and the speed of many deployments.
func Figures(s *stage.Stage) []series.Figure {
	r := &room{Stage: s}
	out := notificationFigures(r)
	for _, figuresOf := range []func(*room) []series.Figure{besideFigures, writeFigures, thousandFigures} {
		out = append(out, figuresOf(r)...)
	}
	return out
}

// providerMemory returns the memory of the provider's process once the claims are delivered, from this field of the kernel.
func (s *room) providerMemory(field string) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if _, err := s.claimLatencies(ctx); err != nil {
			return 0, err
		}
		return s.ReadProcessMemory(field)
	}
}
