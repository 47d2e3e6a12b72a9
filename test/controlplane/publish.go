package controlplane

import (
	"context"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/intentplane/intentplane/test/controlplane/registry"
)

// Registry returns the host and port of the registry.
func (c *ControlPlane) Registry() string { return c.registry.Address() }

// startRegistry starts the registry, without any package.
func (c *ControlPlane) startRegistry() {
	account := registry.Account{User: c.o.RegistryUser, Password: c.o.RegistryPassword}
	c.registry = registry.Start(filepath.Join(c.Dir, "registry"), account)
}

// servePackages publishes all packages.
func (c *ControlPlane) servePackages(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range slices.Concat(c.o.Configurations, c.o.Dependencies) {
		g.Go(func() error { return c.Publish(ctx, p, c.o.Version) })
	}
	return g.Wait()
}

// Publish puts a package into the registry under a version. It returns an error when the file of the package cannot be read or pushed.
func (c *ControlPlane) Publish(ctx context.Context, p Package, version string) error {
	return c.registry.Publish(ctx, p.File, p.Name, version)
}

// PublishAll puts all packages into the registry again, under another version with other labels: a release that changed nothing else.
func (c *ControlPlane) PublishAll(ctx context.Context, version string) error {
	for _, p := range slices.Concat(c.o.Configurations, c.o.Dependencies) {
		if err := c.registry.PublishRelease(ctx, p.File, p.Name, version); err != nil {
			return err
		}
	}
	return nil
}
