package live

import (
	"context"
	"strings"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// checkoutFlags say which clone is read in place of a cluster.
type checkoutFlags struct {
	Checkout     string `help:"Clone of the repository that the deployment is delivered to. Revisions are read from it, and no cluster is asked: it has the commits of the last fetch."  predictor:"dir"`
	ControlPlane string `help:"Control plane, as the configuration names it, where several deliver to the repository."`
}

// findClaimMemory returns the clone, and its state of a deployment. Without a namespace it takes the only deployment of the name.
func (f checkoutFlags) findClaimMemory(ctx context.Context, namespace, name string) (*clone.Clone, clone.Memory, error) {
	c, err := clone.Open(ctx, f.Checkout)
	if err != nil {
		return nil, clone.Memory{}, terminal.UsageError{Err: err}
	}
	m, err := c.FindDeployment(ctx, parseCloneQuery(f.ControlPlane, namespace, name))
	return c, m, err
}

// parseCloneQuery takes a name as commands for clusters do: alone, or behind a resource and its group.
func parseCloneQuery(controlPlane, namespace, name string) clone.Query {
	q := clone.Query{ControlPlane: controlPlane, Namespace: namespace, Name: name}
	if resource, rest, hasResource := strings.Cut(name, "/"); hasResource {
		_, q.APIGroup, _ = strings.Cut(resource, ".")
		q.Name = rest
	}
	return q
}
