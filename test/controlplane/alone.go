package controlplane

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// aloneRBAC has the permissions that Crossplane's RBAC manager would give the provider.
//
//go:embed manifests/alone.yaml
var aloneRBAC []byte

// StartAlone starts an API server and the provider that "make build" left, as its service account, without Crossplane: for tests of
// the provider by itself. Manifests are applied before the provider starts. It returns an error, and leaves nothing running, if
// a component does not get ready.
func StartAlone(ctx context.Context, manifests ...string) (*ControlPlane, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	o := Options{
		Provider:  Program{Binary: filepath.Join(root, "_output", "bin", "provider"), Args: []string{"--debug"}},
		Manifests: append([]string{filepath.Join(root, "package", "provider", "crds"), filepath.Join(root, "examples", "rbac")}, manifests...),
	}
	if err := o.checkBuiltFiles(); err != nil {
		return nil, err
	}
	c, err := prepareAlone(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := c.startProviderAlone(ctx); err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot start provider alone"), c.Stop())
	}
	return c, nil
}

// StartServer starts an API server with the definitions of the provider's kinds and the roles for people, and nothing that works on their objects: for
// clients that read and write them. It returns an error, and leaves nothing running, if something does not get ready.
func StartServer(ctx context.Context, manifests ...string) (*ControlPlane, error) {
	root, err := toolbox.Root()
	if err != nil {
		return nil, err
	}
	c, err := prepareAlone(ctx, Options{
		Manifests: append([]string{filepath.Join(root, "package", "provider", "crds"), filepath.Join(root, "examples", "rbac", "people.yaml")}, manifests...),
	})
	if err != nil {
		return nil, err
	}
	if err := c.startServer(ctx); err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot start API server"), c.Stop())
	}
	return c, nil
}

// prepareAlone returns a control plane that starts nothing yet.
func prepareAlone(ctx context.Context, o Options) (*ControlPlane, error) {
	ctrllog.SetLogger(logr.Discard())
	tools, err := o.findTools(ctx)
	if err != nil {
		return nil, err
	}
	p, err := findFreePorts()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "intentplane-")
	if err != nil {
		return nil, errors.Wrap(err, "cannot make directory for control plane")
	}
	k, err := kubernetes.New(o.clusterOptions(dir, tools))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &ControlPlane{Cluster: k, o: o, tools: tools, ports: p}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.broken, c.fail = context.WithCancelCause(life)
	c.Runner = process.NewRunner(c.LogDirectory(), c.fail)
	return c, nil
}

func (c *ControlPlane) startServer(ctx context.Context) error {
	if err := c.makeDirectories(); err != nil {
		return err
	}
	if err := c.startKubernetes(ctx); err != nil {
		return err
	}
	if err := c.Apply(ctx, c.o.Manifests...); err != nil {
		return err
	}
	return c.WaitForDefinitions(ctx)
}

func (c *ControlPlane) startProviderAlone(ctx context.Context) error {
	if err := c.makeDirectories(); err != nil {
		return err
	}
	if err := c.startKubernetes(ctx); err != nil {
		return err
	}
	if err := c.CreateNamespace(ctx, Namespace); err != nil {
		return err
	}
	if err := c.ApplyYAML(ctx, aloneRBAC); err != nil {
		return err
	}
	if err := c.CreateAccount(ctx, Namespace, ProviderServiceAccount, c.AccountKubeconfig(ProviderServiceAccount)); err != nil {
		return err
	}
	if err := c.Apply(ctx, c.o.Manifests...); err != nil {
		return err
	}
	return c.StartProvider(ctx, Program{})
}
