package main

import (
	"context"
	"slices"

	"github.com/intentplane/intentplane/test/bench/applications"
	"github.com/intentplane/intentplane/test/bench/crowds"
	"github.com/intentplane/intentplane/test/bench/deliveries"
	"github.com/intentplane/intentplane/test/bench/gobench"
	"github.com/intentplane/intentplane/test/bench/plugin"
	"github.com/intentplane/intentplane/test/bench/releases"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

// allFigures returns all figures in the order in which they are measured: figures that need a machine for themselves come last.
func allFigures(s *stage.Stage) []series.Figure {
	alone := slices.Concat(plugin.Figures(), gobench.StateFigures(), gobench.FunctionFigures(), gobench.GitFigures())
	for i, f := range alone {
		alone[i].Measure = withoutControlPlane(s, f.Measure)
	}
	return slices.Concat(crowds.ClaimFigures(s), releases.Figures(s), deliveries.Figures(s), applications.Figures(s), crowds.Figures(s), alone)
}

// withoutControlPlane measures without a control plane beside it.
func withoutControlPlane(s *stage.Stage, measure func(context.Context) (float64, error)) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := s.Close(); err != nil {
			return 0, err
		}
		return measure(ctx)
	}
}
