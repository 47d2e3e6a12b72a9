package crowds

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
)

const (
	// besideCrowd is the number of good deployments beside a broken or a restless deployment.
	besideCrowd = 100

	// flapEvery is the interval of the restless deployment's edits.
	flapEvery = time.Second
)

// besideFigures are the time of good deployments, made at once beside faulty ones, divided by their time alone.
func besideFigures(s *room) []series.Figure {
	y := &beside{s: s}
	return []series.Figure{
		series.NewFigure("at_once_200_beside_broken", "times", y.ratioBeside("broken", deployedAtOnce, y.applyBrokenCrowd)),
		series.NewFigure("at_once_100_beside_flapping", "times", y.ratioBeside("flapping", besideCrowd, y.flapReplicas)),
	}
}

// A beside measures crowds on one control plane.
type beside struct{ s *room }

// ratioBeside returns the time of a crowd under a load, divided by the time of another crowd before the load.
func (y *beside) ratioBeside(name string, n int, disturb func(context.Context) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) {
		if err := y.s.Open(ctx); err != nil {
			return 0, err
		}
		w := &writes{s: y.s}
		if _, err := w.deployCrowd(ctx, namespacedShape, name+"-before", 1); err != nil {
			return 0, err
		}
		alone, err := w.deployCrowd(ctx, namespacedShape, name+"-alone", n)
		if err != nil {
			return 0, err
		}
		disturbed, err := y.measureBeside(ctx, w, name+"-with", n, disturb)
		return disturbed.Seconds() / alone.Seconds(), err
	}
}

// measureBeside returns the time of a crowd under a load.
func (y *beside) measureBeside(ctx context.Context, w *writes, name string, n int, disturb func(context.Context) error) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, atOncePatience)
	defer cancel()
	inner, end := context.WithCancel(ctx)
	defer end()
	g := errgroup.Group{}
	g.Go(func() error { return disturb(inner) })
	began := time.Now()
	if err := w.applyCrowd(ctx, namespacedShape, name, n); err != nil {
		return 0, err
	}
	if err := w.awaitCrowd(ctx, namespacedShape, name, n); err != nil {
		return 0, err
	}
	took := time.Since(began)
	end()
	return took, g.Wait()
}

// applyBrokenCrowd makes as many deployments at once of which none can be delivered.
func (y *beside) applyBrokenCrowd(ctx context.Context) error {
	g := errgroup.Group{}
	for i := range deployedAtOnce {
		o := newDeploymentOf(namespacedShape, fmt.Sprintf("broken-%d", i))
		g.Go(func() error { return y.applyIntent(ctx, o, brokenIntent(i)) })
	}
	return g.Wait()
}

// brokenIntent returns, in turn, an invalid intent, and an intent for a Site that does not exist.
func brokenIntent(i int) string {
	if i%2 == 0 {
		return `{"service": "Not A Name", "type": "web"}`
	}
	return fmt.Sprintf(`{"service": "broken-%d", "type": "web", "site": "nowhere"}`, i)
}

// flapReplicas gives one deployment another number of replicas each second, until the context ends.
func (y *beside) flapReplicas(ctx context.Context) error {
	for replicas := 1; ctx.Err() == nil; replicas = 1 + replicas%5 {
		if err := y.applyIntent(ctx, newRestless(), restlessIntent(replicas)); err != nil && ctx.Err() == nil {
			return err
		}
		_ = process.Wait(ctx, flapEvery) // It ends with the context, as the loop does.
	}
	return client.IgnoreNotFound(y.s.CP.Client.Delete(context.WithoutCancel(ctx), newRestless()))
}

func newRestless() *unstructured.Unstructured {
	return newDeploymentOf(namespacedShape, "restless")
}

func restlessIntent(replicas int) string {
	return fmt.Sprintf(`{"service": "restless", "type": "web", "site": %q, "replicas": %d}`, stage.NameOfSite(0), replicas)
}

func (y *beside) applyIntent(ctx context.Context, o *unstructured.Unstructured, intent string) error {
	if err := unstructured.SetNestedField(o.Object, intent, "spec", "intent"); err != nil {
		return err
	}
	return y.s.CP.ApplyObject(ctx, o)
}
