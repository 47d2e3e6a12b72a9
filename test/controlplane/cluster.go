package controlplane

import (
	"context"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// A Cluster is another one than the control plane's, such as a Site has. It has an API server and no controllers.
type Cluster struct {
	// Kubeconfig is the path of an administrator's kubeconfig, and Config is its content.
	Kubeconfig string
	Config     *rest.Config

	// Client acts as the administrator. Its scheme has the kinds of Kubernetes; others are unstructured.
	Client client.WithWatch

	// inner has the components of a Kubernetes, and nothing else of a control plane.
	inner *ControlPlane
}

// StartCluster starts another cluster, which ends with the control plane. It returns an error if it does not get ready.
func (c *ControlPlane) StartCluster(ctx context.Context, name string) (*Cluster, error) {
	p, err := findFreePorts()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Dir, "clusters", name)
	inner := &ControlPlane{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), tools: c.tools, ports: p}
	for _, d := range []string{"logs", "home", "artifacts"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, errors.Wrap(err, "cannot make directory for cluster")
		}
	}
	inner.runner = process.NewRunner(filepath.Join(dir, "logs"), c.fail)
	c.mu.Lock()
	c.clusters = append(c.clusters, inner)
	c.mu.Unlock()
	if err := errors.Join(inner.startEtcd(), inner.startAPIServer(ctx)); err != nil {
		return nil, errors.Wrapf(err, "cannot start cluster %s", name)
	}
	return &Cluster{Kubeconfig: inner.Kubeconfig, Config: inner.Config, Client: inner.Client, inner: inner}, nil
}

// Apply applies YAML files as ControlPlane.Apply does.
func (k *Cluster) Apply(ctx context.Context, paths ...string) error {
	return k.inner.Apply(ctx, paths...)
}

// ApplyYAML applies a stream of YAML documents as ControlPlane.ApplyYAML does.
func (k *Cluster) ApplyYAML(ctx context.Context, stream []byte) error {
	return k.inner.ApplyYAML(ctx, stream)
}

// Stop ends the cluster, as if its machine had been switched off.
func (k *Cluster) Stop() { k.inner.runner.StopAll() }

// StartFlux installs Flux in the cluster as ControlPlane.StartFlux does.
func (k *Cluster) StartFlux(ctx context.Context) error { return k.inner.StartFlux(ctx) }
