package controlplane

import (
	"context"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

// StartCluster starts another cluster, such as a Site has: an API server without controllers. It ends with the control plane. It returns an error if it does
// not get ready.
func (c *ControlPlane) StartCluster(ctx context.Context, name string) (*kubernetes.Cluster, error) {
	k, err := kubernetes.New(kubernetes.Options{Dir: filepath.Join(c.Dir, "clusters", name), Tools: c.tools})
	if err != nil {
		return nil, err
	}
	k.Runner = process.NewRunner(k.LogDirectory(), c.fail)
	c.mu.Lock()
	c.clusters = append(c.clusters, k)
	c.mu.Unlock()
	if err := k.StartServer(ctx); err != nil {
		return nil, errors.Wrapf(err, "cannot start cluster %s", name)
	}
	return k, nil
}
