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
	switch len(all) {
	case 0:
		return nil, errors.Errorf("cannot find an IntentDeployment of %s: it has none, or none yet", name)
	case 1:
		return all[0], nil
	}
	return nil, errors.Errorf("cannot choose one of %d IntentDeployments of the name %s: name it as intentdeployments.GROUP/NAME", len(all), name)
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
