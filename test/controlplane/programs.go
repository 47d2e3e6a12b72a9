package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// startFunction starts the function and returns when it listens.
func (c *ControlPlane) startFunction(ctx context.Context, args ...string) error {
	base := []string{"--network=tcp", "--address=" + loopback(c.ports.function), "--metrics-address=" + loopback(c.ports.functionMetrics), "--tls-certs-dir=" + filepath.Join(c.Dir, "tls-server")}
	p, err := c.runner.start(command{
		name: "function",
		path: c.functionBinary(),
		args: slices.Concat(c.o.Function.Args, base, args),
		env:  c.o.Function.Env,
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.function = p
	c.mu.Unlock()
	return errors.Wrap(waitForPort(ctx, p, c.ports.function), "cannot reach function")
}

// RestartFunction kills the function, as kill -9 does, and starts it again with further flags. It returns an error if it does not
// listen again.
func (c *ControlPlane) RestartFunction(ctx context.Context, args ...string) error {
	c.current(&c.function).kill()
	return c.startFunction(ctx, args...)
}

// StartProvider starts the provider, with further flags and environment, and returns when it is ready. It returns an error if one
// runs already.
func (c *ControlPlane) StartProvider(ctx context.Context, extra Program) error {
	p := c.current(&c.provider)
	if p != nil && p.alive() {
		return errors.New("cannot start provider: it runs")
	}
	p, err := c.spawnProvider(ctx, "provider", c.ports.providerProbe, loopback(c.ports.providerMetrics), extra)
	if p != nil {
		c.mu.Lock()
		c.provider = p
		c.mu.Unlock()
	}
	return err
}

// spawnProvider returns the process also if it does not get ready.
func (c *ControlPlane) spawnProvider(ctx context.Context, name string, probe int, metrics string, extra Program) (*process, error) {
	// All clusters and Git servers of the harness listen on the loopback interface, which nothing of a tenant may lead to elsewhere.
	base := []string{"--health-probe-bind-address=" + loopback(probe), "--metrics-bind-address=" + metrics, "--allow-loopback-clusters", "--allow-loopback-git"}
	env := []string{"KUBECONFIG=" + c.account(ProviderServiceAccount), "POD_NAMESPACE=" + Namespace}
	p, err := c.runner.start(command{
		name: name,
		path: c.o.Provider.Binary,
		args: slices.Concat(c.o.Provider.Args, base, extra.Args),
		env:  slices.Concat(env, c.o.Provider.Env, extra.Env),
	})
	if err != nil {
		return nil, err
	}
	ready := fmt.Sprintf("http://%s/readyz", loopback(probe))
	err = until(ctx, func(ctx context.Context) (bool, error) {
		if !p.alive() {
			return false, p.failure("ended early")
		}
		return get(ctx, http.DefaultClient, ready) == nil, nil
	})
	return p, errors.Wrapf(err, "cannot see %s ready", name)
}

// StartStandby starts another replica of the provider, without metrics, and returns when it is ready. It returns an error if it does not
// get ready.
func (c *ControlPlane) StartStandby(ctx context.Context, extra Program) error {
	p, err := c.spawnProvider(ctx, "provider-standby", c.ports.standbyProbe, "0", extra)
	if p != nil {
		c.mu.Lock()
		c.standby = p
		c.mu.Unlock()
	}
	return err
}

// KillStandby ends the other replica, as kill -9 does, and returns when it is gone.
func (c *ControlPlane) KillStandby() {
	c.current(&c.standby).kill()
}

// KillProvider ends the provider, as kill -9 does, and returns when it is gone.
func (c *ControlPlane) KillProvider() {
	c.current(&c.provider).kill()
}

// AwaitProviderEnd waits until the provider ends by itself, as a test made it do, and so keeps that from being the control plane's Err when
// it is called before. It returns an error if ctx ends first.
func (c *ControlPlane) AwaitProviderEnd(ctx context.Context) error {
	p := c.current(&c.provider)
	p.expected.Store(true)
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Wrap(context.Cause(ctx), "cannot see provider end")
	}
}

// FunctionPID returns the process id of the function.
func (c *ControlPlane) FunctionPID() int {
	return c.current(&c.function).pid
}

// ProviderPID returns the process id of the provider.
func (c *ControlPlane) ProviderPID() int {
	return c.current(&c.provider).pid
}

func (c *ControlPlane) current(p **process) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *p
}
