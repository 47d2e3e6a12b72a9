package controlplane

import (
	"context"
	"net/http"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FluxNamespace is where Flux lives in a Cluster.
const FluxNamespace = "flux-system"

// A Cluster is another one than the control plane's, such as a Site has. It has an API server and no controllers.
type Cluster struct {
	// Kubeconfig is the path of an administrator's kubeconfig, and Config is what it says.
	Kubeconfig string
	Config     *rest.Config

	// Client acts as the administrator. It knows the kinds of Kubernetes; others are unstructured.
	Client client.WithWatch

	// inner has what it takes to run a Kubernetes, and nothing else of a control plane.
	inner *ControlPlane
}

// StartCluster starts another cluster, which ends with the control plane. It returns an error if it does not get ready.
func (c *ControlPlane) StartCluster(ctx context.Context, name string) (*Cluster, error) {
	p, err := freePorts()
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
	inner.runner = newRunner(filepath.Join(dir, "logs"), c.fail)
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
func (k *Cluster) Stop() { k.inner.runner.stop() }

// StartFlux installs Flux's kinds in the cluster, and starts its source-controller and kustomize-controller. It returns an error if
// they were not built, or do not get ready.
func (k *Cluster) StartFlux(ctx context.Context) error {
	root, err := Root()
	if err != nil {
		return err
	}
	names := []string{"FLUX_SOURCE_CONTROLLER", "FLUX_SOURCE_CRDS", "FLUX_KUSTOMIZE_CONTROLLER", "FLUX_KUSTOMIZE_CRDS"}
	tool, err := builtTools(ctx, root, names...)
	if err != nil {
		return err
	}
	if err := k.inner.createNamespace(ctx, FluxNamespace); err != nil {
		return err
	}
	if err := k.Apply(ctx, tool["FLUX_SOURCE_CRDS"], tool["FLUX_KUSTOMIZE_CRDS"]); err != nil {
		return err
	}
	// The ports of what this cluster does not have are free.
	p := k.inner.ports
	storage := loopback(p.function)
	source := []string{"--storage-path=" + filepath.Join(k.inner.Dir, "artifacts"), "--storage-addr=" + storage, "--storage-adv-addr=" + storage}
	if err := k.startFlux(ctx, "source-controller", tool["FLUX_SOURCE_CONTROLLER"], p.coreProbe, source...); err != nil {
		return err
	}
	return k.startFlux(ctx, "kustomize-controller", tool["FLUX_KUSTOMIZE_CONTROLLER"], p.providerProbe)
}

func (k *Cluster) startFlux(ctx context.Context, name, path string, health int, args ...string) error {
	p, err := k.inner.runner.start(command{
		name: name, path: path,
		args: append([]string{"--events-addr=", "--metrics-addr=0", "--health-addr=" + loopback(health)}, args...),
		env:  []string{"KUBECONFIG=" + k.Kubeconfig, "RUNTIME_NAMESPACE=" + FluxNamespace},
	})
	if err != nil {
		return err
	}
	err = until(ctx, func(ctx context.Context) (bool, error) {
		if !p.alive() {
			return false, p.failure("ended early")
		}
		return get(ctx, http.DefaultClient, "http://"+loopback(health)+"/readyz") == nil, nil
	})
	return errors.Wrapf(err, "cannot see %s ready", name)
}
