package releases

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/load"
)

// breaches are the rounds of slo_breach_to_rollback_s, of which the longest counts.
const breaches = 5

// measureBreach breaks a service level objective while a revision is judged, and measures from the scrape that shows it to the commit that takes it back.
func (y *story) measureBreach(ctx context.Context, figures map[string]float64) error {
	longest, err := y.breakObjective(ctx, "breach", func(rollBack func() error) error { return rollBack() })
	if err == nil {
		figures["breach"] = longest.Seconds()
	}
	return err
}

// measureOrphan measures the same while the function is dead, so that the provider alone rejects the revision and takes it back.
func (y *story) measureOrphan(ctx context.Context, figures map[string]float64) error {
	longest, err := y.breakObjective(ctx, "orphan", func(rollBack func() error) error { return y.s.withoutFunction(ctx, rollBack) })
	if err == nil {
		figures["orphan"] = longest.Seconds()
	}
	return err
}

// withoutFunction kills the function, does something meanwhile, and starts the function again.
func (s *room) withoutFunction(ctx context.Context, operation func() error) error {
	s.CP.KillFunction()
	return errors.Join(operation(), s.CP.RestartFunction(ctx))
}

// breakObjective returns the longest time of some rounds until the branch has the rollback. Each round has its own deployment, so that no deployment exceeds
// Crossplane's circuit breaker.
func (y *story) breakObjective(ctx context.Context, place string, carryOut func(rollBack func() error) error) (time.Duration, error) {
	l, err := load.New(y.s.CP)
	if err != nil {
		return 0, err
	}
	if err := l.Measured(ctx, place, stage.Often, y.server.URL()); err != nil {
		return 0, err
	}
	longest := time.Duration(0)
	for i := range breaches {
		claim := func(replicas, count int) *unstructured.Unstructured {
			return load.Claim(place, fmt.Sprintf("shop-%d", i), replicas, prometheusCheck(stage.GateInterval, count))
		}
		if err := y.applyAndAwait(ctx, claim(1, 1), "Succeeded", "Succeeded"); err != nil {
			return 0, err
		}
		if err := y.applyAndAwait(ctx, claim(2, 100), "Validating", ""); err != nil {
			return 0, err
		}
		if err := carryOut(func() error {
			took, err := y.rollbackTime(ctx, place, time.Duration(i)*time.Second)
			longest = max(longest, took)
			return err
		}); err != nil {
			return 0, err
		}
		if err := y.awaitOutcome(ctx, claim(2, 100), "Succeeded", "RolledBack"); err != nil {
			return 0, err
		}
	}
	return longest, nil
}

// rollbackTime returns the time until the branch has the rollback. Each round begins at another time of the Gate's interval.
func (y *story) rollbackTime(ctx context.Context, repository string, delay time.Duration) (time.Duration, error) {
	if err := process.Wait(ctx, 2*stage.GateInterval+delay); err != nil {
		return 0, err
	}
	pushes := y.s.LogPushes(ctx, repository)
	defer y.s.CP.Git.AfterPush(repository, nil)
	y.target.Set(metric, bad)
	defer y.target.Set(metric, good)
	for scrapes := y.target.Scrapes(); y.target.Scrapes() == scrapes; {
		if err := process.Wait(ctx, time.Millisecond); err != nil {
			return 0, err
		}
	}
	scraped := time.Now()
	pushedAt, err := pushes.AwaitSince(ctx, scraped, stage.StoryPatience)
	return pushedAt.Sub(scraped), errors.Wrap(err, "nothing was taken back")
}
