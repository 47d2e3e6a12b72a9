package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
)

// startFunction starts the function and returns when it listens.
func (c *ControlPlane) startFunction(ctx context.Context, args ...string) error {
	base := []string{
		"--network=tcp", "--address=" + port.Address(c.ports.function), "--metrics-address=" + port.Address(c.ports.functionMetrics),
		"--tls-certs-dir=" + c.ServingCertificates(),
	}
	p, err := c.Runner.Start(process.Command{
		Name: "function",
		Path: c.functionBinary(),
		Args: slices.Concat(c.o.Function.Args, base, args),
		Env:  c.o.Function.Env,
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.function = p
	c.mu.Unlock()
	return errors.Wrap(p.AwaitPort(ctx, c.ports.function), "cannot reach function")
}

// KillFunction ends the function, as kill -9 does, and returns after its end. RestartFunction starts it again.
func (c *ControlPlane) KillFunction() {
	c.currentProcess(&c.function).Kill()
}

// KillFunctionInCall changes a composite while the function is suspended, and kills the function, as kill -9 does, once Crossplane has called it. The call ends
// with an error, which Crossplane reports at once: while it finds no function it waits for two minutes. It returns an error if Crossplane calls nothing.
func (c *ControlPlane) KillFunctionInCall(ctx context.Context, change func()) error {
	p := c.currentProcess(&c.function)
	return p.SuspendWhile(ctx, func() error {
		earlier, err := c.countFunctionCalls(ctx)
		if err != nil {
			return err
		}
		change()
		err = process.PollUntil(ctx, func(ctx context.Context) (bool, error) {
			calls, err := c.countFunctionCalls(ctx)
			return calls > earlier, err
		})
		p.Kill()
		return errors.Wrap(err, "cannot see a call of the function")
	})
}

// countFunctionCalls returns the number of calls of the function that Crossplane has begun.
func (c *ControlPlane) countFunctionCalls(ctx context.Context) (float64, error) {
	m, err := c.CoreMetrics(ctx)
	return m.Sum("function_run_function_request_total", nil), err
}

// RestartFunction kills the function, as kill -9 does, and starts it again with further flags. It returns an error if it does not
// listen again.
func (c *ControlPlane) RestartFunction(ctx context.Context, args ...string) error {
	c.currentProcess(&c.function).Kill()
	return c.startFunction(ctx, args...)
}

// StartProvider starts the provider, with further flags and environment, and returns when it is ready. It returns an error if one
// runs already.
func (c *ControlPlane) StartProvider(ctx context.Context, extra Program) error {
	p := c.currentProcess(&c.provider)
	if p != nil && p.IsAlive() {
		return errors.New("cannot start provider: it runs")
	}
	p, err := c.spawnProvider(ctx, "provider", c.ports.providerProbe, port.Address(c.ports.providerMetrics), extra)
	if p != nil {
		c.mu.Lock()
		c.provider = p
		c.mu.Unlock()
	}
	return err
}

// spawnProvider returns the process also if it does not get ready.
func (c *ControlPlane) spawnProvider(ctx context.Context, name string, probe int, metrics string, extra Program) (*process.Process, error) {
	// All clusters and Git servers of the harness listen on the loopback interface, which nothing of a tenant may lead to elsewhere.
	base := []string{
		"--health-probe-bind-address=" + port.Address(probe), "--metrics-bind-address=" + metrics, "--allow-loopback-clusters", "--allow-loopback-git",
	}
	env := []string{"KUBECONFIG=" + c.AccountKubeconfig(ProviderServiceAccount), "POD_NAMESPACE=" + Namespace}
	p, err := c.Runner.Start(process.Command{
		Name: name,
		Path: c.o.Provider.Binary,
		Args: slices.Concat(c.o.Provider.Args, base, extra.Args),
		Env:  slices.Concat(env, c.o.Provider.Env, extra.Env),
	})
	if err != nil {
		return nil, err
	}
	ready := fmt.Sprintf("http://%s/readyz", port.Address(probe))
	err = p.AwaitURL(ctx, http.DefaultClient, ready)
	return p, errors.Wrapf(err, "cannot see %s ready", name)
}

// StartStandby starts another replica of the provider, without metrics, and returns when it is ready. It returns an error if it does not
// get ready.
func (c *ControlPlane) StartStandby(ctx context.Context, extra Program) error {
	p, err := c.spawnProvider(ctx, "provider-standby", c.ports.standbyProbe, "0", extra)
	if p != nil {
		c.setStandbyProcess(p)
	}
	return err
}

func (c *ControlPlane) setStandbyProcess(p *process.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.standby = p
}

// KillStandby ends the other replica, as kill -9 does, and returns after its end.
func (c *ControlPlane) KillStandby() {
	c.currentProcess(&c.standby).Kill()
}

// KillProvider ends the provider, as kill -9 does, and returns after its end.
func (c *ControlPlane) KillProvider() {
	c.currentProcess(&c.provider).Kill()
}

// AwaitProviderEnd waits for the end of the provider that a test caused, and so keeps that end from being the control plane's Err when it is called before. It
// returns an error if ctx ends first.
func (c *ControlPlane) AwaitProviderEnd(ctx context.Context) error {
	return c.currentProcess(&c.provider).AwaitEnd(ctx)
}

// FunctionPID returns the process id of the function.
func (c *ControlPlane) FunctionPID() int {
	return c.currentProcess(&c.function).PID
}

// ProviderPID returns the process id of the provider.
func (c *ControlPlane) ProviderPID() int {
	return c.currentProcess(&c.provider).PID
}

func (c *ControlPlane) currentProcess(p **process.Process) *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *p
}
