package controlplane

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// FluxNamespace is the namespace of Flux.
const FluxNamespace = "flux-system"

// StartFlux installs Flux's kinds in the control plane's own cluster, and starts its source-controller and kustomize-controller. It
// returns an error if they were not built, or do not get ready.
func (c *ControlPlane) StartFlux(ctx context.Context) error {
	tool, err := toolbox.Built(ctx, "FLUX_SOURCE_CONTROLLER", "FLUX_SOURCE_CRDS", "FLUX_KUSTOMIZE_CONTROLLER", "FLUX_KUSTOMIZE_CRDS")
	if err != nil {
		return err
	}
	if err := c.createNamespace(ctx, FluxNamespace); err != nil {
		return err
	}
	if err := c.Apply(ctx, tool["FLUX_SOURCE_CRDS"], tool["FLUX_KUSTOMIZE_CRDS"]); err != nil {
		return err
	}
	if err := c.WaitForDefinitions(ctx); err != nil {
		return err
	}
	return c.startFluxControllers(ctx, tool)
}

func (c *ControlPlane) startFluxControllers(ctx context.Context, tool map[string]string) error {
	p, err := findFreePorts()
	if err != nil {
		return err
	}
	storage := port.Address(p.function)
	source := []string{"--storage-path=" + filepath.Join(c.Dir, "artifacts"), "--storage-addr=" + storage, "--storage-adv-addr=" + storage}
	if err := c.startFluxController(ctx, "source-controller", tool["FLUX_SOURCE_CONTROLLER"], p.coreProbe, source...); err != nil {
		return err
	}
	return c.startFluxController(ctx, "kustomize-controller", tool["FLUX_KUSTOMIZE_CONTROLLER"], p.providerProbe)
}

func (c *ControlPlane) startFluxController(ctx context.Context, name, path string, health int, args ...string) error {
	p, err := c.runner.Start(process.Command{
		Name: name, Path: path,
		Args: append([]string{"--events-addr=", "--metrics-addr=0", "--health-addr=" + port.Address(health)}, args...),
		Env:  []string{rareGC, "KUBECONFIG=" + c.Kubeconfig, "RUNTIME_NAMESPACE=" + FluxNamespace},
	})
	if err != nil {
		return err
	}
	url := "http://" + port.Address(health) + "/readyz"
	err = p.AwaitURL(ctx, http.DefaultClient, url)
	return errors.Wrapf(err, "cannot see %s ready", name)
}
