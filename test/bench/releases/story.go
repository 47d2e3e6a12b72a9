package releases

import (
	"context"
	"os"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/series"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/promserver"
)

const (
	fleetPlace = "ten"
	fleetSites = 10

	// stagger is the delay of each engine's answer after the previous engine's, at the first revision.
	stagger = 500 * time.Millisecond

	metric = "error_ratio"
	good   = 0.01
	bad    = 0.2
)

// A story is a good revision, a bad revision that a Gate rejects, and the rollback, at ten Sites with real engines and real measurements.
type story struct {
	s *room

	server *promserver.Server
	target *promserver.Target
}

func (y *story) figureSeries() *series.Series {
	return &series.Series{
		Base: func(ctx context.Context, _ map[string]float64) error { return y.s.Open(ctx) },
		Parts: []series.Part{
			{Figures: []string{"ungated", "one", "story"}, Measure: y.withPrometheus(y.measureStory)},
			{Figures: []string{"breach"}, Measure: y.withPrometheus(y.measureBreach)},
			{Figures: []string{"orphan"}, Measure: y.withPrometheus(y.measureOrphan)},
		},
	}
}

// withPrometheus returns a measurement beside a Prometheus server of its own.
func (y *story) withPrometheus(measure series.Measure) series.Measure {
	return func(ctx context.Context, figures map[string]float64) error {
		dir, err := os.MkdirTemp("", "prometheus")
		if err != nil {
			return errors.Wrap(err, "cannot make directory")
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := y.startScraping(ctx, dir); err != nil {
			return err
		}
		defer y.target.Close()
		defer y.server.Stop()
		return measure(ctx, figures)
	}
}

// startScraping starts a server that scrapes a target each second.
func (y *story) startScraping(ctx context.Context, dir string) (err error) {
	y.target = promserver.NewTarget()
	y.target.Set(metric, good)
	if y.server, err = promserver.New(ctx, dir, promserver.Job{Name: "fleet", Interval: time.Second, Target: y.target}); err != nil {
		return err
	}
	return y.server.Start(ctx)
}

// prometheusCheck measures in an interval, so often.
func prometheusCheck(interval time.Duration, count int) map[string]any {
	return map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": "max(" + metric + ")"}, "threshold": "<= 0.05",
		"initialDelay": "2s", "interval": interval.String(), "count": int64(count), "timeout": "10m",
	}
}

// measureStory plays the story at ten Sites, and counts.
func (y *story) measureStory(ctx context.Context, figures map[string]float64) error {
	l, err := load.New(y.s.CP)
	if err != nil {
		return err
	}
	f, err := l.NewFleet(ctx, fleetPlace, fleetSites, y.server.URL())
	if err != nil {
		return err
	}
	ledger, err := load.NewLedger(ctx, y.s.CP.Client, fleetPlace)
	if err != nil {
		return err
	}
	defer ledger.Close()
	// A deployment exists before: with the first one, Crossplane begins to watch all that it names.
	if err := y.countTokens(ctx, figures, "first", func() error { return y.deployFirst(ctx, f, f.Claim("first", 1)) }); err != nil {
		return err
	}
	if err := y.countTokens(ctx, figures, "ungated", func() error { return y.deployAgain(ctx, f, f.Claim("ungated", 1)) }); err != nil {
		return err
	}
	gate := prometheusCheck(stage.GateInterval, 3)
	if err := y.countTokens(ctx, figures, "one", func() error { return y.deployAgain(ctx, f, f.Claim("judged", 1, gate)) }); err != nil {
		return err
	}
	err = y.countTokens(ctx, figures, "two", func() error {
		if err := y.applyAndAwait(ctx, f.Claim("judged", 2, gate), "Validating", ""); err != nil {
			return err
		}
		y.target.Set(metric, bad)
		defer y.target.Set(metric, good)
		return y.awaitOutcome(ctx, f.Claim("judged", 2, gate), "Succeeded", "RolledBack")
	})
	stage.PrintLedger(ledger)
	if err != nil {
		return err
	}
	figures["story"] = figures["one"] + figures["two"]
	return nil
}

// deployFirst deploys a first revision, while the test resumes the engines one after another.
func (y *story) deployFirst(ctx context.Context, f *load.Fleet, o *unstructured.Unstructured) error {
	if err := y.applyAndAwait(ctx, o, "Delivering", ""); err != nil {
		return err
	}
	for _, site := range f.Sites {
		if err := f.Suspend(ctx, site, false); err != nil {
			return err
		}
		if err := process.Wait(ctx, stagger); err != nil {
			return err
		}
	}
	return y.awaitOutcome(ctx, o, "Succeeded", "Succeeded")
}

// deployAgain deploys while the test holds the engines back at first.
func (y *story) deployAgain(ctx context.Context, f *load.Fleet, o *unstructured.Unstructured) error {
	for _, site := range f.Sites {
		if err := f.Suspend(ctx, site, true); err != nil {
			return err
		}
	}
	return y.deployFirst(ctx, f, o)
}

// countTokens counts the tokens of a function until no more are charged. It returns an error if the circuit breaker opened.
func (y *story) countTokens(ctx context.Context, figures map[string]float64, name string, operation func() error) error {
	baseline, err := y.s.AllowedEvents(ctx)
	if err != nil {
		return err
	}
	if err := operation(); err != nil {
		return err
	}
	final, err := y.s.AwaitSettled(ctx)
	if err != nil {
		return err
	}
	m, err := y.s.CP.CoreMetrics(ctx)
	if err != nil {
		return err
	}
	if opened := m.Sum("circuit_breaker_opens_total", nil); opened > 0 {
		return errors.Errorf("the circuit breaker opened in %s, after %v tokens", name, final-baseline)
	}
	figures[name] = final - baseline
	return nil
}

// applyAndAwait applies a deployment, and waits until its status describes it, with a phase and, unless it is empty, an outcome.
func (y *story) applyAndAwait(ctx context.Context, o *unstructured.Unstructured, phase, outcome string) error {
	if err := y.s.CP.ApplyObject(ctx, o.DeepCopy()); err != nil {
		return err
	}
	return y.awaitOutcome(ctx, o, phase, outcome)
}

func (y *story) awaitOutcome(ctx context.Context, o *unstructured.Unstructured, phase, outcome string) error {
	ctx, cancel := context.WithTimeout(ctx, stage.StoryPatience)
	defer cancel()
	digest, err := load.Digest(o)
	if err != nil {
		return err
	}
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion(o.GetAPIVersion())
	all.SetKind(o.GetKind() + "List")
	w, err := y.s.CP.Client.Watch(ctx, all, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	if err != nil {
		return errors.Wrap(err, "cannot watch claim")
	}
	defer w.Stop()
	last := map[string]any{}
	for e := range w.ResultChan() {
		observed, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		last, _, _ = unstructured.NestedMap(observed.Object, "status")
		if last["intentDigest"] == digest && last["phase"] == phase && (outcome == "" || last["outcome"] == outcome) {
			return nil
		}
	}
	return errors.Errorf("claim %s is not %s %s: %v", o.GetName(), phase, outcome, last)
}
