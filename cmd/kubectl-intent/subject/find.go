// Package subject finds the objects that a command is about by their names, and reports on them.
package subject

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
)

// FindDeployment returns the single deployment of a name, with its composed objects.
func FindDeployment(ctx context.Context, from *cluster.Cluster, name string) (*cause.Facts, error) {
	found, err := from.Subject(ctx, name)
	if err != nil {
		return nil, err
	}
	all := found.AllDeployments()
	if len(all) != 1 {
		return nil, errors.Errorf("%s is the name of %d IntentDeployments, want one: say intentdeployments.GROUP/NAME", name, len(all))
	}
	return all[0], nil
}

// FindBuilt returns the single Application of a name, which has a source.
func FindBuilt(ctx context.Context, opened *cluster.Cluster, name string) (string, *cluster.Subjects, error) {
	found, err := opened.Subject(ctx, name)
	if err != nil {
		return "", nil, err
	}
	if len(found.Applications) != 1 || !found.Applications[0].Application.Spec.IsBuilt() {
		return "", nil, errors.Errorf("%s: no Application of that name is built of a source", name)
	}
	return found.Applications[0].Application.Metadata.Name, found, nil
}
