package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/promserver"
)

var (
	//go:embed tour/catalog.yaml
	tourCatalog string

	//go:embed tour/claim.yaml
	tourClaim string
)

// tourCommand demonstrates the product.
type tourCommand struct {
	KeepDir  bool          `help:"Keep logs and data of the control plane."`
	Deadline time.Duration `default:"2m" help:"How long each version may take."`
	Watch    string        `help:"Write the output of \"kubectl intent status --watch\" to this file meanwhile." type:"path"`
}

// A tour releases three versions of a service on a control plane, and prints the events.
type tour struct {
	demo

	began time.Time

	// deadline of each version.
	deadline time.Duration

	// last status that was observed.
	last deploymentv1alpha1.IntentDeploymentStatus

	// stop ends the programs that the tour started itself.
	stop func()

	// watch is the file for the output of status --watch, or "", and follower is the program that prints it, once there is something to follow.
	watch    string
	follower *follower
}

// A chapter of the tour is one version that is released.
type chapter struct {
	title, version string

	// outcome is the expected outcome.
	outcome deploymentv1alpha1.Outcome
}

func tourChapters() []chapter {
	return []chapter{
		{title: "Version 1.0 goes out", version: "1.0", outcome: deploymentv1alpha1.OutcomeSucceeded},
		{title: "Version 2.0 has a mistake: it answers in 0.8 seconds", version: "2.0", outcome: deploymentv1alpha1.OutcomeRolledBack},
		{title: "Version 3.0 goes out", version: "3.0", outcome: deploymentv1alpha1.OutcomeSucceeded},
	}
}

// Run runs the tour. It returns an error if a component does not start, or if a version does not reach its expected outcome.
func (c *tourCommand) Run(ctx context.Context) error {
	o, err := controlplane.Product()
	if err != nil {
		return err
	}
	p := printer{os.Stdout}
	o.KeepDir, o.KeepDirOnFailure, o.Progress, o.Waiting = c.KeepDir, true, p.printStarted, p.printWaitReason
	// Prometheus runs on this machine.
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks")
	// By default Crossplane holds back who changes more often than once a second for long. Three versions within a minute are for a tour alone.
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=1000")
	p.printTitle("Starting etcd, an API server, Crossplane, our packages, and a Git server")
	cp, err := controlplane.Start(ctx, o)
	if err != nil {
		return err
	}
	t := newTour(p, cp, c.Deadline)
	t.watch = c.Watch
	err = t.runChapters(ctx)
	return errors.Join(err, cp.Stop())
}

// newTour returns a tour whose clock began with the start of the control plane. The wait for another one on this machine does not count.
func newTour(p printer, cp *controlplane.ControlPlane, deadline time.Duration) *tour {
	t := &tour{demo: demo{printer: p, cp: cp}, began: time.Now(), deadline: deadline, stop: func() {}}
	for _, phase := range cp.Timings {
		if phase.Phase == "total" {
			t.began = t.began.Add(-phase.Duration)
		}
	}
	return t
}

// runChapters runs all chapters.
func (t *tour) runChapters(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.printTitle("Starting the parts of a Site: Flux, Prometheus, and users of the service")
	defer func() { t.stop() }()
	defer t.stopFollower()
	if err := t.prepareSite(ctx); err != nil {
		return err
	}
	for _, c := range tourChapters() {
		t.printTitle(c.title)
		if err := t.releaseVersion(ctx, c); err != nil {
			return errors.Wrapf(err, "version %s", c.version)
		}
	}
	t.printTitle("The commits in Git")
	if err := t.showCommitLog(ctx); err != nil {
		return err
	}
	t.printLinef("\nThe tour took %.0f seconds.", time.Since(t.began).Seconds())
	return nil
}

// prepareSite starts the components of the Site, and applies the catalog.
func (t *tour) prepareSite(ctx context.Context) error {
	seed := map[string]string{"clusters/edge1/README.md": "What runs at edge1.\n"}
	if err := t.cp.Git.CreateRepo(ctx, repository, seed); err != nil {
		return err
	}
	if err := t.cp.StartFlux(ctx); err != nil {
		return err
	}
	t.printTimedEvent("Flux reads clusters/edge1 of the repository")
	if err := t.cp.ApplyYAML(ctx, load.Kustomization(repository, t.cp.Git.URL(repository), "clusters/edge1")); err != nil {
		return err
	}
	address, err := t.startPrometheus(ctx)
	if err != nil {
		return err
	}
	t.printTimedEvent("Prometheus scrapes the service; users ask it for 20 pages a second")
	return t.applyManifest(ctx, strings.ReplaceAll(tourCatalog, "http://prometheus.invalid", address))
}

// startPrometheus starts the shop and the server that measures it, until ctx ends, and returns the server's address.
func (t *tour) startPrometheus(ctx context.Context) (string, error) {
	dir := filepath.Join(t.cp.Dir, "prometheus")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", errors.Wrap(err, "cannot make directory for Prometheus")
	}
	shop := newRunningShop()
	target := promserver.NewTargetOf(shop.metrics)
	server, err := promserver.New(ctx, dir, promserver.Job{Name: serviceName, Interval: time.Second, Target: target})
	if err != nil {
		return "", err
	}
	t.stop = func() {
		server.Stop()
		target.Close()
		shop.server.Close()
	}
	if err := server.Start(ctx); err != nil {
		return "", err
	}
	go shop.followDeployment(ctx, t.cp.Client)
	return server.URL(), nil
}

// releaseVersion releases a version, and prints its events until its end. It returns an error for another end than expected.
func (t *tour) releaseVersion(ctx context.Context, c chapter) error {
	claims, err := kubernetes.ParseYAML([]byte(strings.ReplaceAll(tourClaim, "VERSION", c.version)))
	if err != nil {
		return err
	}
	claim := claims[0]
	intent, _, _ := unstructured.NestedString(claim.Object, "spec", "intent")
	t.printTimedEvent("applied: " + intent)
	if err := t.cp.ApplyObject(ctx, claim); err != nil {
		return err
	}
	if err := t.startFollower(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.deadline, errors.Errorf("the deployment did not end within %s", t.deadline))
	defer cancel()
	wanted, err := digestOfSpec(claim)
	if err != nil {
		return err
	}
	t.last.Outcome = ""
	u, err := t.observeClaim(ctx, claim, func(u *unstructured.Unstructured) bool {
		status := decodeStatus(u)
		// The status may still describe the previous version.
		if status.IntentDigest != wanted {
			return false
		}
		for _, step := range stepsBetween(t.last, status) {
			t.printTimedEvent(step)
		}
		t.last = status
		return isDeploymentEnded(status)
	})
	if err != nil {
		return err
	}
	if t.last.Outcome != c.outcome {
		return errors.Errorf("the outcome is %s, not %s: %s", t.last.Outcome, c.outcome, falseConditions(u))
	}
	if t.follower != nil {
		if err := t.follower.awaitPrintedStatus(ctx, t.last); err != nil {
			return err
		}
	}
	return t.showRunning(ctx)
}

// startFollower starts the follower of the deployment once, if one is wanted.
func (t *tour) startFollower(ctx context.Context) (err error) {
	if t.watch == "" || t.follower != nil {
		return nil
	}
	t.follower, err = startFollowing(ctx, t.watch, t.cp.Kubeconfig)
	return err
}

func (t *tour) stopFollower() {
	if t.follower != nil {
		t.follower.stopProcess()
	}
}

// digestOfSpec returns the digest that the status of a deployment has when it describes its spec.
func digestOfSpec(u *unstructured.Unstructured) (string, error) {
	d := deploymentv1alpha1.IntentDeployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d); err != nil {
		return "", errors.Wrap(err, "cannot decode the deployment")
	}
	return digest.Spec(&d.Spec)
}

// isDeploymentEnded reports whether a deployment has reached its final state. A failed deployment whose revision is being rolled back has not.
func isDeploymentEnded(s deploymentv1alpha1.IntentDeploymentStatus) bool {
	return s.Phase == deploymentv1alpha1.PhaseSucceeded && s.Outcome != "" || s.Phase == deploymentv1alpha1.PhaseFailed && s.Revision == 0
}

// showRunning prints the image of the Deployment at the Site.
func (t *tour) showRunning(ctx context.Context) error {
	u, err := t.readObject(ctx, "apps/v1", "Deployment", serviceNamespace, serviceName)
	if err != nil {
		return err
	}
	containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		if c, ok := c.(map[string]any); ok {
			t.printTimedEvent(fmt.Sprintf("edge1 runs %s", c["image"]))
		}
	}
	return nil
}

// showCommitLog prints a line for each commit, the newest last.
func (t *tour) showCommitLog(ctx context.Context) error {
	log, err := t.cp.Git.Git(ctx, repository, "log", "--reverse", "--format=%h %<("+fmt.Sprint(columns-10)+",trunc)%s", "main")
	if err != nil {
		return err
	}
	for line := range strings.Lines(log) {
		t.printLinef("  %s", strings.TrimRight(line, " \n"))
	}
	return nil
}

// applyManifest applies a stream of YAML, with our repository.
func (t *tour) applyManifest(ctx context.Context, text string) error {
	objects, err := kubernetes.ParseYAML([]byte(text))
	if err != nil {
		return err
	}
	names := []string{}
	for _, u := range objects {
		if err := deliverToRepository(u, t.cp.Git.URL(repository)); err != nil {
			return err
		}
		if err := t.cp.ApplyObject(ctx, u); err != nil {
			return err
		}
		names = append(names, u.GetKind()+" "+u.GetName())
	}
	t.printTimedEvent("applied: " + strings.Join(names, ", "))
	return nil
}

// printTimedEvent prints an event with its time.
func (t *tour) printTimedEvent(text string) {
	for _, line := range wrapTimedText(time.Since(t.began), text) {
		t.printLinef("%s", line)
	}
}
