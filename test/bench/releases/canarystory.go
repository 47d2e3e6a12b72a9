package releases

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/bench/process"
	"github.com/intentplane/intentplane/test/bench/stage"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/release"
)

const (
	// canaryRounds is the number of rollouts of the revision with three Sites: twelve steps in all.
	canaryRounds = 3

	// canarySites is the number of Sites in that story.
	canarySites = 3

	// counted is the number of requests that each share is measured with, and atOnce the number of concurrent requests.
	counted, atOnce = 10_000, 8

	// settled is the time after the commit that removes a track's weight in which the gateway may send it a last request.
	settled = 3 * time.Second

	// awaited is the time without writes while a user is awaited.
	awaited = 5 * time.Minute
)

// measureSteps delivers a second revision to three Sites in steps with Gates and pauses, on a composite of its own each time, so that each begins with all
// events that the circuit breaker allows.
func (c *canary) measureSteps(ctx context.Context) error {
	for range canaryRounds {
		y, err := c.beginRested(ctx, canarySites, pausedStepsPlan())
		if err != nil {
			return err
		}
		if err := c.countStepCost(y); err != nil {
			return err
		}
		c.countFailed(y.stopUsers())
	}
	return nil
}

// pausedStepsPlan has the weights 0, 5, 20, 50 and 100, with a pause and a Gate at each of them between.
func pausedStepsPlan() release.Plan {
	pause := release.Pause("10s")
	return release.Plan{Steps: []any{release.Weight(5), pause, release.Weight(20), pause, release.Weight(50), pause}, Gates: release.Gates(stage.GateInterval, 1)}
}

// measureSecond delivers a third revision right behind the second one, whose events the circuit breaker has not regained.
func (c *canary) measureSecond(ctx context.Context) error {
	y, err := c.beginRested(ctx, canarySites, pausedStepsPlan())
	if err != nil {
		return err
	}
	t, tokens := &story{s: c.s}, map[string]float64{}
	for i, name := range []string{"first", "second"} {
		revision := int64(i) + 2
		if err := t.countTokens(ctx, tokens, name, func() error {
			return errors.Join(y.Ask(ctx, int(revision), y.plan), y.awaitOutcome(revision, "Succeeded"))
		}); err != nil {
			return err
		}
	}
	c.countFailed(y.stopUsers())
	c.recordWorst("second", tokens["second"])
	return nil
}

// countStepCost counts the cost of the second revision, and times its steps.
func (c *canary) countStepCost(y *run) error {
	ledger, err := load.NewLedger(y.ctx, c.s.CP.Client, y.Namespace)
	if err != nil {
		return err
	}
	defer ledger.Close()
	steps, err := y.FollowSteps(y.ctx, 2)
	if err != nil {
		return err
	}
	defer steps.Stop()
	t, tokens := &story{s: c.s}, map[string]float64{}
	err = t.countTokens(y.ctx, tokens, "canary", func() error { return errors.Join(y.Ask(y.ctx, 2, y.plan), y.awaitOutcome(2, "Succeeded")) })
	stage.PrintLedger(ledger)
	if err != nil {
		return err
	}
	c.recordWorst("tokens", tokens["canary"])
	for step := range int64(4) {
		lag, err := steps.Lag(step)
		if err != nil {
			return err
		}
		c.recordWorst("lag", lag.Seconds())
	}
	return errors.Join(c.countTrackPods(y), c.measureMandate(y))
}

// measureMandate measures the mandate of the composed GitDelivery, as JSON.
func (c *canary) measureMandate(y *run) error {
	l := stage.ListOfKind("delivery.intentplane.dev/v1alpha1 GitDelivery")
	if err := c.s.CP.Client.List(y.ctx, l, client.InNamespace(y.Namespace)); err != nil {
		return errors.Wrap(err, "cannot list GitDeliveries")
	}
	for _, d := range l.Items {
		mandate, found, err := unstructured.NestedMap(d.Object, "spec", "forProvider", "mandate")
		if err != nil || !found {
			continue
		}
		b, err := json.Marshal(mandate)
		if err != nil {
			return errors.Wrap(err, "cannot encode mandate")
		}
		c.recordWorst("mandate", float64(len(b)))
	}
	return nil
}

// countTrackPods counts the pods that were made at a Site in each track, beyond the pods of the first revision in the stable track. It returns an
// error if a Site had fewer pods of the canary than replicas.
func (c *canary) countTrackPods(y *run) error {
	for _, s := range y.Sites {
		started := s.Started()
		if started[track.Green] < release.Replicas {
			return errors.Errorf("the canary had %d pods at a Site, want %d", started[track.Green], release.Replicas)
		}
		c.recordWorst("pods", float64(started[track.Green]))
		c.recordWorst("stable_pods", float64(started[track.Blue]-release.Replicas))
	}
	return nil
}

// measurePauses pauses three times, once over a restart of the provider, and then until a user promotes.
func (c *canary) measurePauses(ctx context.Context) error {
	plan := release.Plan{Steps: []any{
		release.Weight(5), release.Pause("2s"), release.Weight(20), release.Pause("10s"), release.Weight(50), release.Pause("30s"), release.Weight(80), release.Pause(""),
	}}
	y, err := c.beginRested(ctx, 1, plan)
	if err != nil {
		return err
	}
	steps, err := y.FollowSteps(ctx, 2)
	if err != nil {
		return err
	}
	defer steps.Stop()
	if err := errors.Join(y.Ask(ctx, 2, plan), y.awaitPauseAt("3/6"), c.restartProvider(ctx), y.awaitUserAt(2, "5/6")); err != nil {
		return err
	}
	for i, length := range []time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second} {
		paused, err := steps.Paused(int64(i) + 1)
		if err != nil {
			return err
		}
		if paused < length {
			return errors.Errorf("a pause of %s took %s", length, paused)
		}
		c.recordWorst("pause", (paused - length).Seconds())
	}
	if err := c.countWrites(y); err != nil {
		return err
	}
	if err := errors.Join(y.promoteStep(2, 5), y.awaitOutcome(2, "Succeeded")); err != nil {
		return err
	}
	c.countFailed(y.stopUsers())
	return nil
}

func (c *canary) restartProvider(ctx context.Context) error {
	c.s.CP.KillProvider()
	return c.s.CP.StartProvider(ctx, controlplane.Program{})
}

// countWrites counts changes of objects and pushes while a user is awaited.
func (c *canary) countWrites(y *run) error {
	if err := process.Wait(y.ctx, stage.Quiet); err != nil {
		return err
	}
	ledger, err := load.NewLedger(y.ctx, c.s.CP.Client, y.Namespace)
	if err != nil {
		return err
	}
	defer ledger.Close()
	baseline := c.s.CP.Git.Pushes(y.Namespace)
	if err := process.Wait(y.ctx, awaited); err != nil {
		return err
	}
	stage.PrintLedger(ledger)
	c.worst["writes"] = float64(len(ledger.Entries()) + c.s.CP.Git.Pushes(y.Namespace) - baseline)
	return nil
}

// measureShares goes forward with a share that is measured at each weight, back by a RollbackTo, gives a revision up at 50, and edits one at 20 percent.
func (c *canary) measureShares(ctx context.Context) error {
	pause := release.Pause("")
	plan := release.Plan{Steps: []any{release.Weight(5), pause, release.Weight(20), pause, release.Weight(50), pause}}
	for _, deliver := range []func(*run) error{c.rollForward, c.abortRelease, c.editRelease} {
		y, err := c.beginRested(ctx, 1, plan)
		if err != nil {
			return err
		}
		if err := errors.Join(c.printCharges(y, func() error { return deliver(y) }), c.s.CheckBreakerClosed(ctx)); err != nil {
			return err
		}
		c.countFailed(y.stopUsers())
	}
	return nil
}

// printCharges prints the tokens that a part of the release costs at Crossplane's circuit breaker.
func (c *canary) printCharges(y *run, part func() error) error {
	ledger, err := load.NewLedger(y.ctx, c.s.CP.Client, y.Namespace)
	if err != nil {
		return err
	}
	defer ledger.Close()
	err = part()
	stage.PrintLedger(ledger)
	return err
}

func (c *canary) rollForward(y *run) error {
	if err := y.Ask(y.ctx, 2, y.plan); err != nil {
		return err
	}
	for i, weight := range []float64{5, 20, 50} {
		if err := y.awaitUserAt(2, []string{"2/5", "3/5", "4/5"}[i]); err != nil {
			return err
		}
		if err := c.measureShare(y, weight); err != nil {
			return err
		}
		if err := y.promoteLater(2, int64(i)+2); err != nil {
			return err
		}
	}
	// Three releases by hand and their steps cost more than the circuit breaker gets back meanwhile.
	if err := errors.Join(y.awaitOutcome(2, "Succeeded"), process.Wait(y.ctx, breakerRest)); err != nil {
		return err
	}
	back := errors.Join(y.Request(y.ctx, rolloutv1alpha1.ActionRollbackTo, 2, map[string]any{"toRevision": int64(1)}), y.awaitOutcome(3, "RolledBack"))
	return errors.Join(back, c.expectNoneAtZero(y, track.Green))
}

// measureShare measures the share of the canary, once the gateway follows.
func (c *canary) measureShare(y *run, weight float64) error {
	for end := time.Now().Add(patience.Limit); math.Abs(y.Sites[0].Target.Send(y.ctx, 200, atOnce).Share(track.Green)-weight) > 1; {
		if time.Now().After(end) {
			return errors.Errorf("the gateway does not give the canary %v percent", weight)
		}
	}
	got := y.Sites[0].Target.Send(y.ctx, counted, atOnce)
	c.recordWorst("share", math.Abs(got.Share(track.Green)-weight))
	c.countFailed(float64(len(got.Failed())))
	return nil
}

// expectNoneAtZero counts a request to a track as a share that is all wrong, if it was sent while Git gave the track no weight and the gateway had time to follow.
func (c *canary) expectNoneAtZero(y *run, name string) error {
	all, err := y.Divisions(y.ctx, y.Sites[0])
	for i, d := range all {
		end := time.Now()
		if i+1 < len(all) {
			end = all[i+1].Since
		}
		if d.Weights[name] == 0 && y.users[0].Answers().Between(d.Since.Add(settled), end).Share(name) > 0 {
			c.recordWorst("share", 100)
		}
	}
	return err
}

func (c *canary) abortRelease(y *run) error {
	if err := y.rollOutUntil("4/5"); err != nil {
		return err
	}
	back := errors.Join(process.Wait(y.ctx, stepRest), y.Request(y.ctx, rolloutv1alpha1.ActionAbort, 2, nil), y.awaitOutcome(2, "RolledBack"))
	return errors.Join(back, c.expectNoneAtZero(y, track.Green))
}

func (c *canary) editRelease(y *run) error {
	if err := errors.Join(y.rollOutUntil("3/5"), process.Wait(y.ctx, stepRest)); err != nil {
		return err
	}
	return errors.Join(y.Ask(y.ctx, 3, y.plan), y.awaitUserAt(3, "2/5"), c.expectNoneAtZero(y, track.Green))
}

// rollOutUntil rolls the second revision out to a step, at which it awaits a user.
func (y *run) rollOutUntil(last string) error {
	if err := y.Ask(y.ctx, 2, y.plan); err != nil {
		return err
	}
	for step := int64(2); ; step++ {
		progress := fmt.Sprintf("%d/5", step)
		if err := y.awaitUserAt(2, progress); err != nil || progress == last {
			return err
		}
		if err := y.promoteLater(2, step); err != nil {
			return err
		}
	}
}
