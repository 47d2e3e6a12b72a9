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
		composeOverviews(found.Bundles, now, cause.FindForBundle, overview.ForBundle),
		composeOverviews(found.Applications, now, cause.FindForApplication, overview.ForApplication),
		composeOverviews(found.Deployments, now, cause.FindForDeployment, overview.ForDeployment),
		composeOverviews(found.Clusters, now, cause.FindForCluster, overview.ForCluster),
	)
}

// Rows returns the rows of subjects, sorted.
func Rows(found *cluster.Subjects, now time.Time) []overview.Row {
	out := slices.Concat(
		composeOverviews(found.Bundles, now, cause.FindForBundle, overview.RowForBundle),
		composeOverviews(found.Applications, now, cause.FindForApplication, overview.RowForApplication),
		composeOverviews(found.Deployments, now, cause.FindForDeployment, overview.RowForDeployment),
		composeOverviews(found.Clusters, now, cause.FindForCluster, overview.RowForCluster),
		composeOverviews(pointersToItems(found.Beneath.Packages), now, cause.FindForPackage, overview.RowForInstalled),
		composeOverviews(pointersToItems(found.Beneath.Definitions), now, cause.FindForDefinition, overview.RowForInstalled),
	)
	overview.SortRows(out)
	return out
}

// composeOverviews finds out why each does not go on, and shows it.
func composeOverviews[F, O any](all []*F, now time.Time, find func(*F, time.Time) cause.Finding, show func(*F, cause.Finding) O) []O {
	var out []O
	for _, f := range all {
		out = append(out, show(f, find(f, now)))
	}
	return out
}

func pointersToItems[T any](all []T) []*T {
	var out []*T
	for i := range all {
		out = append(out, &all[i])
	}
	return out
}
