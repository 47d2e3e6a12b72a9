package kubernetes

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// artifacts is the folder in which Flux keeps the content of repositories.
const artifacts = "artifacts"

// FluxNamespace is the namespace of Flux.
const FluxNamespace = "flux-system"

// StartFlux installs Flux's kinds in the cluster, and starts its source-controller and kustomize-controller. It
// returns an error if they were not built, or do not get ready.
func (k *Cluster) StartFlux(ctx context.Context) error {
	tool, err := toolbox.Built(ctx, "FLUX_SOURCE_CONTROLLER", "FLUX_SOURCE_CRDS", "FLUX_KUSTOMIZE_CONTROLLER", "FLUX_KUSTOMIZE_CRDS")
	if err != nil {
		return err
	}
	if err := k.CreateNamespace(ctx, FluxNamespace); err != nil {
		return err
	}
	if err := k.Apply(ctx, tool["FLUX_SOURCE_CRDS"], tool["FLUX_KUSTOMIZE_CRDS"]); err != nil {
		return err
	}
	if err := k.WaitForDefinitions(ctx); err != nil {
		return err
	}
	return k.startFluxControllers(ctx, tool)
}

func (k *Cluster) startFluxControllers(ctx context.Context, tool map[string]string) error {
	free, err := port.Free(3)
	if err != nil {
		return err
	}
	storage := port.Address(free[0])
	source := []string{"--storage-path=" + filepath.Join(k.Dir, artifacts), "--storage-addr=" + storage, "--storage-adv-addr=" + storage}
	if err := k.startFluxController(ctx, "source-controller", tool["FLUX_SOURCE_CONTROLLER"], free[1], source...); err != nil {
		return err
	}
	return k.startFluxController(ctx, "kustomize-controller", tool["FLUX_KUSTOMIZE_CONTROLLER"], free[2])
}

func (k *Cluster) startFluxController(ctx context.Context, name, path string, health int, args ...string) error {
	p, err := k.Runner.Start(process.Command{
		Name: name, Path: path,
		Args: append([]string{"--events-addr=", "--metrics-addr=0", "--health-addr=" + port.Address(health)}, args...),
		Env:  []string{process.RareGC, "KUBECONFIG=" + k.Kubeconfig, "RUNTIME_NAMESPACE=" + FluxNamespace},
	})
	if err != nil {
		return err
	}
	url := "http://" + port.Address(health) + "/readyz"
	err = p.AwaitURL(ctx, http.DefaultClient, url)
	return errors.Wrapf(err, "cannot see %s ready", name)
}
