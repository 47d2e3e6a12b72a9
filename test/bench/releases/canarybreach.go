package releases

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/release"
)

// orphanRounds is the number of rounds without the function, of which the longest counts.
const orphanRounds = 3

// beginCanary rolls a second revision out to 20 percent at one Site, where it awaits a user.
func (c *canary) beginCanary(ctx context.Context) (*run, error) {
	plan := release.Plan{Steps: []any{release.Weight(20), release.Pause("")}, Gates: release.Gates(stage.GateInterval, 1)}
	y, err := c.beginRested(ctx, 1, plan)
	if err != nil {
		return nil, err
	}
	return y, errors.Join(y.Ask(ctx, 2, plan), y.awaitUserAt(2, "2/3"))
}

// measureCanaryBreach fails half of a canary's requests at 20 percent, and times its last request.
func (c *canary) measureCanaryBreach(ctx context.Context) error {
	for range breaches {
		y, err := c.beginCanary(ctx)
		if err != nil {
			return err
		}
		if err := c.breakCanary(y, "breach", func() error { return y.awaitOutcome(2, "RolledBack") }); err != nil {
			return err
		}
	}
	return nil
}

// measureOrphanBreach does the same while the function is dead, so that the provider alone takes the canary back.
func (c *canary) measureOrphanBreach(ctx context.Context) error {
	for range orphanRounds {
		y, err := c.beginCanary(ctx)
		if err != nil {
			return err
		}
		if err := c.s.withoutFunction(ctx, func() error { return c.breakCanary(y, "orphan_breach", y.awaitNoWeight) }); err != nil {
			return err
		}
		if err := y.awaitOutcome(2, "RolledBack"); err != nil {
			return err
		}
	}
	return nil
}

// measureOrphanAbort gives a canary up at 20 percent while the function is dead, and times its last request.
func (c *canary) measureOrphanAbort(ctx context.Context) error {
	for range orphanRounds {
		y, err := c.beginCanary(ctx)
		if err != nil {
			return err
		}
		requested := time.Now()
		if err := c.s.withoutFunction(ctx, func() error {
			requested = time.Now()
			return errors.Join(y.Request(ctx, rolloutv1alpha1.ActionAbort, 2, nil), y.awaitNoWeight())
		}); err != nil {
			return err
		}
		c.countFailed(y.stopUsers())
		c.recordWorst("orphan_abort", lastRequestTo(track.Green, y, requested).Sub(requested).Seconds())
		if err := y.awaitOutcome(2, "RolledBack"); err != nil {
			return err
		}
	}
	return nil
}

// breakCanary fails half of a canary's requests, waits until it was taken back, and times its last request from the scrape that shows the first failure.
func (c *canary) breakCanary(y *run, figure string, awaitEnd func() error) error {
	broken := time.Now()
	c.near.Faults.FailEvery(2, y.Namespace, track.Green)
	if err := awaitEnd(); err != nil {
		return err
	}
	y.stopUsers()
	c.countFailed(y.failuresBeside(track.Green)) // The story causes the failure of the canary.
	scraped, isScraped := c.scrapes.FirstAfter(broken)
	if !isScraped {
		return errors.New("the gateway was not scraped after the fault")
	}
	c.recordWorst(figure, lastRequestTo(track.Green, y, scraped).Sub(scraped).Seconds())
	return nil
}

// awaitNoWeight waits until Git gives the canary no requests, and the gateway had time to follow.
func (y *run) awaitNoWeight() error {
	for end := time.Now().Add(patience.Limit); time.Now().Before(end); {
		all, err := y.Divisions(y.ctx, y.Sites[0])
		if err != nil {
			return err
		}
		if len(all) > 0 && all[len(all)-1].Weights[track.Green] == 0 {
			return process.Wait(y.ctx, settled)
		}
		if err := process.Wait(y.ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("Git still gives the canary requests")
}

// failuresBeside counts failed requests that a track did not answer.
func (y *run) failuresBeside(name string) float64 {
	failed := 0
	for _, u := range y.users {
		for _, a := range u.Answers().Failed() {
			if a.Track != name {
				failed++
			}
		}
	}
	return float64(failed)
}

// lastRequestTo returns when a track got its last request, but no time before a moment.
func lastRequestTo(name string, y *run, latest time.Time) time.Time {
	for _, a := range y.users[0].Answers() {
		if a.Track == name && a.Sent.After(latest) {
			latest = a.Sent
		}
	}
	return latest
}
