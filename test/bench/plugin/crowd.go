package plugin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/terminal"
)

// changeDeployments changes the message of one deployment after another, so that each changes once in changeInterval.
func (p *pluginBench) changeDeployments(ctx context.Context, d time.Duration) error {
	tick := time.NewTicker(changeInterval / time.Duration(p.shown))
	defer tick.Stop()
	for i, began := 0, time.Now(); time.Since(began) < d; i++ {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("intentplane.dev/v1alpha1")
		o.SetKind("IntentDeployment")
		o.SetNamespace(benchNamespace)
		o.SetName(fmt.Sprintf("shop-%d", i%p.shown))
		change := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"status":{"message":"Change %d."}}`, i))
		if err := p.cp.Client.Status().Patch(ctx, o, change); err != nil {
			return errors.Wrap(err, "cannot change deployment")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// measureDoctorTime returns the time that doctor takes with ten configurations and a hundred Sites, five of which cannot be reached.
func (p *pluginBench) measureDoctorTime(ctx context.Context) (float64, error) {
	for i := range 10 {
		if err := p.publishConfiguration(ctx, i); err != nil {
			return 0, err
		}
	}
	took, err := p.timeCommand(ctx, "ClusterUnreachable", "doctor", "--timeout=1m")
	return took.Seconds(), err
}

// publishConfiguration writes a configuration, a GitDelivery that uses it, and ten Sites with a SiteSync.
func (p *pluginBench) publishConfiguration(ctx context.Context, number int) error {
	name := fmt.Sprintf("many-%d", number)
	if err := p.cp.ApplyYAML(ctx, fmt.Appendf(nil, `{apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: %s},
		spec: {controlPlane: demo, git: {url: "https://git.example.org/fleet.git", branch: main, credentials: {type: Basic, secretRef: {namespace: crossplane-system, name: fleet-git}}}}}`, name)); err != nil {
		return err
	}
	objects, err := samples.Verified().Objects()
	if err != nil {
		return err
	}
	for _, o := range objects {
		switch o.GetKind() {
		case "GitDelivery":
			err = unstructured.SetNestedField(o.Object, name, "spec", "providerConfigRef", "name")
		case "SiteSync":
			err = p.publishSites(ctx, o, name, number%2 == 0)
		default:
			continue
		}
		if err != nil {
			return err
		}
		o.SetNamespace(benchNamespace)
		o.SetName(name)
		if err := p.writeWithStatus(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// publishSites writes ten Sites, and a SiteSync with their states. One of them may be unreachable.
func (p *pluginBench) publishSites(ctx context.Context, sync *unstructured.Unstructured, name string, hasUnreachable bool) error {
	var observed []any
	for i := range 10 {
		site := fmt.Sprintf("%s-%d", name, i)
		if err := p.cp.ApplyYAML(ctx, fmt.Appendf(nil, `{apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: %s},
			spec: {cluster: {controlPlane: {}}, engine: {type: None, unobservedIsLive: true}, repository: {path: clusters/%[1]s}}}`, site)); err != nil {
			return err
		}
		siteStatus := map[string]any{"name": site, "state": "Live"}
		if i == 0 && hasUnreachable {
			siteStatus["state"], siteStatus["reason"], siteStatus["message"] = "Syncing", "ClusterUnreachable", "no route to host"
		}
		observed = append(observed, siteStatus)
	}
	return unstructured.SetNestedSlice(sync.Object, observed, "status", "atProvider", "sites")
}

// observerProcessor returns the processor's time of a provider that observes a thousand deployments which do not change, in percent of one.
func (p *pluginBench) observerProcessor(ctx context.Context) (float64, error) {
	if p.cp != nil {
		if err := p.stopControlPlane(); err != nil {
			return 0, err
		}
	}
	if err := p.openControlPlane(ctx, controlplane.StartAlone); err != nil {
		return 0, err
	}
	v, err := p.measureObserver(ctx)
	return v, errors.Join(err, p.stopControlPlane())
}

func (p *pluginBench) measureObserver(ctx context.Context) (float64, error) {
	if err := p.cp.ApplyYAML(ctx, fmt.Appendf(nil, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", benchNamespace)); err != nil {
		return 0, err
	}
	all, err := samples.Verified().Objects()
	if err != nil {
		return 0, err
	}
	for i := range crowdOfStatus {
		o, err := renameSample(all[0], fmt.Sprintf("shop-%d", i))
		if err != nil {
			return 0, err
		}
		if err := p.writeWithStatus(ctx, o); err != nil {
			return 0, err
		}
	}
	if err := p.awaitObserved(ctx); err != nil {
		return 0, err
	}
	return process.CPUPercent(p.cp.ProviderPID(), func() error { return process.Wait(ctx, watched) })
}

// awaitObserved waits until the provider counts all deployments.
func (p *pluginBench) awaitObserved(ctx context.Context) error {
	for {
		m, err := p.cp.ProviderMetrics(ctx)
		if err != nil {
			return err
		}
		if m.Sum("intentdeployment_current", nil) >= crowdOfStatus {
			return nil
		}
		if err := process.Wait(ctx, time.Second); err != nil {
			return err
		}
	}
}

// watchProcessor returns the processor's time of status --watch on a terminal, in percent of one, while each deployment changes every few seconds.
func (p *pluginBench) watchProcessor(ctx context.Context) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, program, err := terminal.Open(120, crowdOfWhy+10)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	c, err := p.pluginCommand(ctx, "status", "-A", "--watch")
	if err != nil {
		return 0, err
	}
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	if err := errors.Join(c.Start(), program.Close()); err != nil {
		return 0, errors.Wrap(err, "cannot start kubectl-intent")
	}
	defer func() { cancel(); _ = c.Wait() }()
	if err := readUntilText(reader, fmt.Sprintf("shop-%d ", crowdOfWhy-1)); err != nil {
		return 0, err
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	changes := make(chan error, 1)
	go func() { changes <- p.changeDeployments(ctx, watched) }()
	return process.CPUPercent(c.Process.Pid, func() error { return <-changes })
}

// readUntilText reads until a text was read.
func readUntilText(from io.Reader, text string) error {
	received, b := "", make([]byte, 4096)
	for !strings.Contains(received, text) {
		n, err := from.Read(b)
		if err != nil {
			return errors.Wrapf(err, "cannot see %q", text)
		}
		received = received[max(0, len(received)-len(text)):] + string(b[:n])
	}
	return nil
}
