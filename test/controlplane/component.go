package controlplane

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/process"
)

// A Component is a further program beside a control plane, such as a controller.
type Component struct {
	Program

	// Name of the component, which is also that of its log.
	Name string

	// Ready is a URL that answers with success once the component is ready.
	Ready string

	// Client sends the requests. Nil means http.DefaultClient.
	Client *http.Client
}

// StartComponent starts a component, which ends with the control plane, and returns when it is ready. It returns an error, with the end of
// its log, if it ends before. If it ends later, that is the control plane's Err.
func (c *ControlPlane) StartComponent(ctx context.Context, k Component) error {
	p, err := c.Runner.Start(process.Command{Name: k.Name, Path: k.Binary, Args: k.Args, Env: k.Env})
	if err != nil {
		return err
	}
	err = p.AwaitURL(ctx, cmp.Or(k.Client, http.DefaultClient), k.Ready)
	return errors.Wrapf(err, "cannot see %s ready; its log ends with:\n%s", k.Name, p.LastLog())
}

// Broken is closed when a component ended unexpectedly. Err then names it.
func (c *ControlPlane) Broken() <-chan struct{} { return c.broken.Done() }

// File returns the path of a file of this name that is removed with the control plane.
func (c *ControlPlane) File(name string) string { return filepath.Join(c.Dir, name) }
