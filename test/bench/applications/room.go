// Package applications measures the other composites: Applications, Bundles and workload clusters.
package applications

import (
	"slices"

	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

const namespace = stage.Namespace

// A room is the stage with the measurements of this package.
type room struct{ *stage.Stage }

// Figures are the cost of clusters, of Applications and of Bundles.
func Figures(s *stage.Stage) []series.Figure {
	r := &room{Stage: s}
	return slices.Concat(clusterFigures(r), applicationFigures(r), BundleFigures(s))
}

// BundleFigures are the cost of Bundles, and the duration of one.
func BundleFigures(s *stage.Stage) []series.Figure { return figuresOfBundles(&room{Stage: s}) }

// clusterFigures are the cost of clusters that come and go.
func clusterFigures(s *room) []series.Figure {
	f := (&fleet{s: s}).figureSeries()
	return []series.Figure{
		series.NewFigure("clusters_300_cpu_percent", "%", f.Figure("cpu_percent")),
		series.NewFigure("cluster_status_writes_per_min", "1/min", f.Figure("writes")),
	}
}
