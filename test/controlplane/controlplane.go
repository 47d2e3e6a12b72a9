// Package controlplane starts a whole control plane on loopback: etcd, the Kubernetes API server, Crossplane under its own
// service account, an OCI registry, a Git server, and packages with the programs that serve them. Everything it starts ends with
// it, also when the process that called it is killed.
package controlplane

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/controlplane/node"
	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/process"
	"github.com/intentplane/intentplane/test/controlplane/registry"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/gitserver"
)

// Namespace is the namespace of Crossplane.
const Namespace = "crossplane-system"

// A ControlPlane is a running control plane.
type ControlPlane struct {
	// Cluster is the control plane's own. Its directory holds all files of the control plane, and its runner starts all components.
	*kubernetes.Cluster

	// Git serves repositories, none at first.
	Git *gitserver.Server

	// Timings has the duration of each phase of the start. Phases overlap.
	Timings []Timing

	o        Options
	tools    *toolbox.Paths
	ports    ports
	registry *registry.Server
	port8080 *port.Lock

	// snapshot is the key under which the content of the cluster is saved, and restored is true if the cluster began with that content.
	snapshot string
	restored bool

	node    *node.Node
	network *httptest.Server
	cancel  context.CancelFunc

	// broken ends, with the reason, when a component ends unexpectedly.
	broken context.Context
	fail   context.CancelCauseFunc

	stopOnce sync.Once
	stopErr  error

	// epoch ends the harness's own processes and controllers for the present cluster.
	epoch context.CancelFunc

	mu       sync.Mutex
	core     *process.Process
	function *process.Process
	provider *process.Process
	standby  *process.Process
	clusters []*kubernetes.Cluster

	// upgraded is the binary that serves the function instead of the first one, if one does.
	upgraded string
}

// A Timing is the duration of a phase.
type Timing struct {
	Phase    string
	Duration time.Duration
}

// Start starts a control plane, installs the packages that o names and returns when they serve. It waits for another control plane on this machine to end,
// since one of Crossplane's programs always takes the same port. When it returns an error nothing is left running: the error names the unready components, and
// has the end of the log of a component that ended early.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	// The harness reports through errors and the logs of its components.
	ctrllog.SetLogger(logr.Discard())

	c, err := prepareControlPlane(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := c.startProcesses(ctx); err != nil {
		err = errors.Wrap(err, "cannot start control plane")
		c.o.KeepDir = c.o.KeepDir || c.o.KeepDirOnFailure
		if c.o.KeepDir {
			err = errors.Join(err, errors.Errorf("all logs are in %s", c.LogDirectory()))
		}
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// prepareControlPlane finds the tools, and reserves the ports and the directory of a control plane, before any process starts.
func prepareControlPlane(ctx context.Context, o Options) (*ControlPlane, error) {
	tools, err := o.findTools(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := port.Acquire8080(ctx, o.Waiting)
	if err != nil {
		return nil, err
	}
	p, err := findFreePorts()
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	dir, err := os.MkdirTemp("", "intentplane-")
	if err != nil {
		return nil, errors.Join(errors.Wrap(err, "cannot make directory for control plane"), lock.Release())
	}
	k, err := kubernetes.New(o.clusterOptions(dir, tools))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir), lock.Release())
	}
	return &ControlPlane{Cluster: k, o: o, tools: tools, ports: p, port8080: lock}, nil
}

func (c *ControlPlane) startProcesses(ctx context.Context) error {
	// The harness's own processes live until Stop, not until the caller's context, which is often that of one test.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.broken, c.fail = context.WithCancelCause(life)
	c.Runner = process.NewRunner(c.LogDirectory(), c.fail)

	// The start itself ends with the caller's context, and with the first component that ends early.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(c.broken, func() { stop(c.Err()) })()

	err := c.timePhase("total", func() error { return c.runStartPhases(ctx, life) })
	if err != nil && c.Err() != nil {
		return c.Err()
	}
	return err
}

// Err returns the reason why a component ended unexpectedly, with the end of its log, and nil while all of them run.
func (c *ControlPlane) Err() error {
	return context.Cause(c.broken)
}

// runStartPhases runs dependent phases in order, and the rest at once.
func (c *ControlPlane) runStartPhases(ctx, life context.Context) error {
	if err := c.makeDirectories(); err != nil {
		return err
	}
	if err := c.restoreSnapshot(); err != nil {
		return err
	}
	c.startRegistry()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return c.timePhase("serve packages", func() error { return c.servePackages(gctx) }) })
	g.Go(func() error { return c.startGitServer(gctx) })
	g.Go(func() error {
		if err := c.timePhase("kubernetes", func() error { return c.startKubernetes(gctx) }); err != nil {
			return err
		}
		return c.timePhase("crossplane", func() error { return c.startCrossplane(gctx, life) })
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return c.timePhase("packages", func() error {
		if err := c.installPackages(ctx); err != nil {
			return err
		}
		if err := c.saveSnapshot(ctx); err != nil {
			return err
		}
		return c.startControllersOfPackages(ctx)
	})
}

// startKubernetes starts the API server and its controllers, and returns when the API server is ready.
func (c *ControlPlane) startKubernetes(ctx context.Context) error {
	if err := c.StartServer(ctx); err != nil {
		return err
	}
	return c.StartControllers()
}

func (c *ControlPlane) makeDirectories() error {
	for _, d := range []string{packageCache, "tls-client", servingCertificates, "registry"} {
		if err := os.MkdirAll(filepath.Join(c.Dir, d), 0o700); err != nil {
			return errors.Wrap(err, "cannot make directory for control plane")
		}
	}
	return nil
}

func (c *ControlPlane) startGitServer(ctx context.Context) error {
	s, err := gitserver.New(ctx, filepath.Join(c.Dir, "git"), c.o.Git...)
	c.Git = s
	return errors.Wrap(err, "cannot start Git server")
}

func (c *ControlPlane) timePhase(phase string, fn func() error) error {
	began := time.Now()
	err := fn()
	took := time.Since(began)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.Timings = append(c.Timings, Timing{Phase: phase, Duration: took})
	if c.o.Progress != nil && err == nil {
		c.o.Progress(phase, took)
	}
	return err
}

// Stop ends everything that Start started and removes its directory, unless Options keep it. It returns an error if files remain. Stopping again does nothing.
func (c *ControlPlane) Stop() error {
	c.stopOnce.Do(func() { c.stopErr = c.stopProcesses() })
	return c.stopErr
}

func (c *ControlPlane) stopProcesses() error {
	if c.cancel != nil {
		c.cancel()
	}
	for _, k := range c.clusters {
		k.Stop()
	}
	if c.Runner != nil {
		c.Runner.StopAll()
	}
	if c.registry != nil {
		c.registry.Close()
	}
	if c.network != nil {
		c.network.Close()
	}
	if c.Git != nil {
		c.Git.Close()
	}
	err := c.port8080.Release()
	if c.o.KeepDir {
		return err
	}
	return errors.Join(err, errors.Wrap(os.RemoveAll(c.Dir), "cannot remove directory of control plane"))
}

// LogFile returns the path of a component's log: etcd, kube-apiserver, kube-controllers, garbage-collector, core-init, core,
// rbac-manager, function, provider, source-controller or kustomize-controller.
func (c *ControlPlane) LogFile(component string) string {
	return c.Runner.LogFile(component)
}
