package subject

import (
	"slices"
	"time"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
)

// Overviews returns overviews of subjects, with all parts.
func Overviews(found *cluster.Subjects, now time.Time) []overview.Overview {
	return slices.Concat(
		showEach(found.Bundles, now, cause.FindForBundle, overview.ForBundle),
		showEach(found.Applications, now, cause.FindForApplication, overview.ForApplication),
		showEach(found.Deployments, now, cause.FindForDeployment, overview.ForDeployment),
		showEach(found.Clusters, now, cause.FindForCluster, overview.ForCluster),
	)
}

// Rows returns the rows of subjects, sorted.
func Rows(found *cluster.Subjects, now time.Time) []overview.Row {
	out := slices.Concat(
		showEach(found.Bundles, now, cause.FindForBundle, overview.RowForBundle),
		showEach(found.Applications, now, cause.FindForApplication, overview.RowForApplication),
		showEach(found.Deployments, now, cause.FindForDeployment, overview.RowForDeployment),
		showEach(found.Clusters, now, cause.FindForCluster, overview.RowForCluster),
		showEach(pointersTo(found.Beneath.Packages), now, cause.FindForPackage, overview.RowForInstalled),
		showEach(pointersTo(found.Beneath.Definitions), now, cause.FindForDefinition, overview.RowForInstalled),
	)
	overview.SortRows(out)
	return out
}

// showEach finds out why each does not go on, and shows it.
func showEach[F, O any](all []*F, now time.Time, find func(*F, time.Time) cause.Finding, show func(*F, cause.Finding) O) []O {
	var out []O
	for _, f := range all {
		out = append(out, show(f, find(f, now)))
	}
	return out
}

func pointersTo[T any](all []T) []*T {
	var out []*T
	for i := range all {
		out = append(out, &all[i])
	}
	return out
}
