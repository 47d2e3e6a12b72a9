package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/load"
)

// breaches are the rounds of slo_breach_to_rollback_s, of which the longest counts.
const breaches = 5

// measureBreach breaks a service level objective while a revision is judged, and measure from the scrape that shows it to the commit that takes it back. Each
// round has its own deployment, so that no deployment exceeds Crossplane's circuit breaker.
func (y *story) measureBreach(ctx context.Context, figures map[string]float64) error {
	const place = "breach"
	l, err := load.New(y.s.cp)
	if err != nil {
		return err
	}
	if err := l.Measured(ctx, place, often, y.server.URL()); err != nil {
		return err
	}
	took := []float64{}
	for i := range breaches {
		claim := func(replicas, count int) *unstructured.Unstructured {
			return load.Claim(place, fmt.Sprintf("shop-%d", i), replicas, prometheusCheck(gateInterval, count))
		}
		if err := y.applyAndAwait(ctx, claim(1, 1), "Succeeded", "Succeeded"); err != nil {
			return err
		}
		if err := y.applyAndAwait(ctx, claim(2, 100), "Validating", ""); err != nil {
			return err
		}
		d, err := y.rollbackTime(ctx, place, time.Duration(i)*time.Second)
		if err != nil {
			return err
		}
		took = append(took, d.Seconds())
		if err := y.awaitOutcome(ctx, claim(2, 100), "Succeeded", "RolledBack"); err != nil {
			return err
		}
	}
	figures["breach"] = slices.Max(took)
	return nil
}

// rollbackTime returns the time until the branch has the rollback. Each round begins at another time of the Gate's interval.
func (y *story) rollbackTime(ctx context.Context, repository string, delay time.Duration) (time.Duration, error) {
	if err := process.Wait(ctx, 2*gateInterval+delay); err != nil {
		return 0, err
	}
	pushed := make(chan time.Time, 8)
	y.s.cp.Git.AfterPush(repository, func() { pushed <- time.Now() })
	defer y.s.cp.Git.AfterPush(repository, nil)
	y.target.Set(metric, bad)
	defer y.target.Set(metric, good)
	for scrapes := y.target.Scrapes(); y.target.Scrapes() == scrapes; {
		if err := process.Wait(ctx, time.Millisecond); err != nil {
			return 0, err
		}
	}
	scraped := time.Now()
	select {
	case pushedAt := <-pushed:
		return pushedAt.Sub(scraped), nil
	case <-time.After(storyPatience):
		return 0, errors.New("nothing was taken back")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
