// Package main is the playground: it starts a real control plane on loopback, and shows how a claim becomes a commit (demo), or how a version
// that breaks its objective is rolled back (tour).
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

// CLI are the commands of the playground.
type CLI struct {
	Demo demoCommand `cmd:"" default:"withargs" help:"Show a claim become a commit."`
	Tour tourCommand `cmd:""                    help:"Release three versions of a service, of which the second breaks its objective, with real Flux and Prometheus."`
}

// demoCommand shows a claim become a commit.
type demoCommand struct {
	Once     bool          `help:"End when the claim is Succeeded or Failed (ONCE=1)."`
	KeepDir  bool          `help:"Keep logs and data of the control plane."`
	Examples string        `default:""   help:"Folder of manifests to apply, in the order of their names. The default is the quickstart of the repository."`
	Deadline time.Duration `default:"5m" help:"How long the claim may take."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cli := &CLI{}
	k := kong.Parse(cli,
		kong.Name("playground"),
		kong.Description("Shows the product on a real control plane."),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	// Make passes the variable on also when it is empty.
	if v := os.Getenv("ONCE"); v != "" && v != "0" {
		cli.Demo.Once = true
	}
	err := k.Run()
	if ctx.Err() != nil {
		return // Ctrl-C is its regular end.
	}
	k.FatalIfErrorf(err)
}

// Run runs the demo. It returns an error if the control plane does not start, and if the claim fails or takes too long.
func (c *demoCommand) Run(ctx context.Context) error {
	o, err := controlplane.Product()
	if err != nil {
		return err
	}
	root, err := toolbox.Root()
	if err != nil {
		return err
	}
	if c.Examples == "" {
		c.Examples = filepath.Join(root, "examples", "quickstart")
	}
	p := printer{os.Stdout}
	o.KeepDir, o.KeepDirOnFailure, o.Progress, o.Waiting = c.KeepDir, true, p.printStarted, p.printWaitReason

	p.printTitle("Starting a control plane: etcd, Kubernetes API server, Crossplane, the packages, a Git server")
	cp, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	err = c.runDemoUntilEnd(ctx, &demo{printer: p, cp: cp, programs: filepath.Join(root, "_output", "bin")})
	if c.KeepDir {
		p.printLinef("logs and data stay in %s", cp.Dir)
	}
	return errors.Join(err, cp.Stop())
}

// runDemoUntilEnd runs the demo on a control plane and stays until the user ends it.
func (c *demoCommand) runDemoUntilEnd(ctx context.Context, d *demo) error {
	err := d.runExamples(ctx, c.Examples, c.Deadline)
	if c.Once {
		return err
	}
	if err != nil {
		d.printLinef("\n%v", err)
	}
	d.printCommands()
	<-ctx.Done()
	return nil
}
