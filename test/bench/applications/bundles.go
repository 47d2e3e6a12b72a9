package applications

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/bench/stats"
)

const (
	// bundlePackages are in bundleLayers layers of one Bundle.
	bundlePackages = 20
	bundleLayers   = 4

	// steadyBundles have one package each.
	steadyBundles = 100

	// bundlePatience is the time limit of all of them.
	bundlePatience = 15 * time.Minute
)

// bundles are measured on a control plane that has the Configuration of Bundles.
type bundles struct{ s *room }

// figuresOfBundles are the cost of Bundles, and the duration of one.
func figuresOfBundles(s *room) []series.Figure {
	b := &bundles{s: s}
	all := &series.Series{Base: s.openWithBundles, Parts: []series.Part{
		{Figures: []string{"tokens", "s"}, Measure: b.measureLayers},
		{Figures: []string{"writes", "cpu_percent"}, Measure: b.measureSteady},
	}}
	return []series.Figure{
		series.NewFigure("bundle_20_tokens", "tokens", all.Figure("tokens")),
		series.NewFigure("bundle_20_s", "s", all.Figure("s")),
		series.NewFigure("bundle_steady_writes", "writes", all.Figure("writes")),
		series.NewFigure("bundle_100_cpu_percent", "%", all.Figure("cpu_percent")),
	}
}

// openWithBundles starts a control plane with Bundles, in the place of another one.
func (s *room) openWithBundles(ctx context.Context, _ map[string]float64) error {
	if err := s.Close(); err != nil {
		return err
	}
	s.HasBundles = true
	return s.Open(ctx)
}

// newBenchBundle returns a Bundle with so many packages in layers, each at one Site without an engine.
func newBenchBundle(name string, packages, layers int) *unstructured.Unstructured {
	all, layerSize := []any{}, packages/layers
	for i := range packages {
		p := map[string]any{"name": fmt.Sprintf("%s-%d", name, i), "version": "1.0.0", "deployment": map[string]any{"intent": stage.Intent(fmt.Sprintf("%s-%d", name, i), 1)}}
		if i >= layerSize {
			p["dependsOn"] = []any{fmt.Sprintf("%s-%d", name, i-layerSize)}
		}
		all = append(all, p)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": "1.0.0", "packages": all}}}
	o.SetAPIVersion("claims.intentplane.dev/v1alpha1")
	o.SetKind("Bundle")
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// measureLayers deploys one Bundle after another one has made Crossplane watch its composed kinds, and counts the tokens of Crossplane's
// circuit breaker.
func (b *bundles) measureLayers(ctx context.Context, figures map[string]float64) error {
	ctx, cancel := context.WithTimeout(ctx, bundlePatience)
	defer cancel()
	if err := b.s.AwaitSucceeded(ctx, newBenchBundle("first", 1, 1)); err != nil {
		return err
	}
	if _, err := b.s.AwaitSettled(ctx); err != nil {
		return err
	}
	baseline, err := b.allowedEvents(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := b.s.AwaitSucceeded(ctx, newBenchBundle("twenty", bundlePackages, bundleLayers)); err != nil {
		return err
	}
	figures["s"] = time.Since(began).Seconds()
	if _, err := b.s.AwaitSettled(ctx); err != nil {
		return err
	}
	final, err := b.allowedEvents(ctx)
	if err != nil {
		return err
	}
	figures["tokens"] = final - baseline
	return nil
}

// allowedEvents returns the tokens that the circuit breaker charged composites of Bundles. The composites of their packages have a breaker
// each.
func (b *bundles) allowedEvents(ctx context.Context) (float64, error) {
	m, err := b.s.CP.CoreMetrics(ctx)
	if err != nil {
		return 0, err
	}
	sum, controllers := 0.0, []string{}
	for _, sample := range m["circuit_breaker_events_total"].GetMetric() {
		labels := map[string]string{}
		for _, l := range sample.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		controllers = append(controllers, labels["controller"])
		if labels["result"] == "Allowed" && strings.Contains(labels["controller"], "xbundles.") {
			sum += sample.GetCounter().GetValue()
		}
	}
	if sum == 0 {
		return 0, errors.Errorf("Crossplane counts no events of Bundles: it has %v", controllers)
	}
	return sum, nil
}

// measureSteady makes many Bundles, and measures their cost while nothing happens.
func (b *bundles) measureSteady(ctx context.Context, figures map[string]float64) error {
	ctx, cancel := context.WithTimeout(ctx, bundlePatience)
	defer cancel()
	g, groupCtx := errgroup.WithContext(ctx)
	g.SetLimit(10)
	for i := range steadyBundles {
		g.Go(func() error { return b.s.AwaitSucceeded(groupCtx, newBenchBundle(fmt.Sprintf("steady-%d", i), 1, 1)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := process.Wait(ctx, stage.SteadyInterval); err != nil {
		return err
	}
	baseline, err := b.observeVersions(ctx)
	if err != nil {
		return err
	}
	cpu, err := process.CPUSeconds(b.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	if err := process.Wait(ctx, stage.SteadyIntervals*stage.SteadyInterval); err != nil {
		return err
	}
	spent, err := process.CPUSeconds(b.s.CP.ProviderPID())
	if err != nil {
		return err
	}
	final, err := b.observeVersions(ctx)
	if err != nil {
		return err
	}
	figures["writes"] = stats.CountChanged(baseline, final)
	figures["cpu_percent"] = 100 * (spent - cpu) / (stage.SteadyIntervals * stage.SteadyInterval).Seconds()
	return nil
}

// observeVersions returns the versions of all Bundles, of their composed objects and packages, and of their records.
func (b *bundles) observeVersions(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, kind := range []string{"claims.intentplane.dev/Bundle", "claims.intentplane.dev/XBundle", "state.intentplane.dev/BundleState", "intentplane.dev/IntentDeployment"} {
		group, name, _ := strings.Cut(kind, "/")
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(group + "/v1alpha1")
		l.SetKind(name + "List")
		if err := b.s.CP.Client.List(ctx, l); err != nil {
			return nil, errors.Wrapf(err, "cannot list %s", kind)
		}
		for i := range l.Items {
			out[kind+"/"+l.Items[i].GetName()] = l.Items[i].GetResourceVersion()
		}
	}
	secrets := &corev1.SecretList{}
	if err := b.s.CP.Client.List(ctx, secrets, client.InNamespace(namespace)); err != nil {
		return nil, errors.Wrap(err, "cannot list Secrets")
	}
	for _, s := range secrets.Items {
		out["Secret/"+s.GetName()] = s.GetResourceVersion()
	}
	return out, nil
}
