package canary

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/alerting"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/release"
)

// TestPauses pauses for 2, 15, 10 and 30 seconds, the third time over a restart of the provider, the fourth time over a change of its leader, and then until
// a user promotes the step, over another restart. No pause is short or begins again, and nothing is written in one, or while a user is awaited.
func TestPauses(t *testing.T) {
	t.Parallel()
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{
		release.Weight(5), release.Pause("2s"), release.Weight(20), release.Pause("15s"), release.Weight(35), release.Pause("10s"),
		release.Weight(50), release.Pause("30s"), release.Weight(80), release.Pause(""),
	}}
	y.startsUsers(plan, perSecond/4)
	provider.Lock()
	y.Cleanup(provider.Unlock)
	y.asksForImage(2, plan)
	y.followPause(1, 2*time.Second, nil)
	y.followPause(2, 15*time.Second, y.writesNothingUntil)
	y.followPause(3, 10*time.Second, func(time.Time) {
		y.restartsProvider()
		y.startsStandby() // The new leader is ready in time for the next pause.
	})
	var now leader
	observed := y.followPause(4, 30*time.Second, func(time.Time) { now = y.changesLeader() })
	y.wantLeaderSince(observed, now)
	y.writesNothing()
	y.promotesStep(2, 6)
	y.awaitOutcome(2, "Succeeded")
	y.stopAndCheckUsers()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 65, green 35", "blue 50, green 50", "blue 20, green 80", "blue 0, green 100", "green 100")
	y.wantTrackPods(y.Sites[0], release.Replicas, release.Replicas)
}

// TestCanaryAwaitsAUser lets a canary wait for a user. The alert names the deployment.
func TestCanaryAwaitsAUser(t *testing.T) {
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{release.Weight(5), release.Pause("")}}
	y.asksForImage(1, plan)
	y.awaitOutcome(1, "Succeeded")
	states, err := alerting.StartStateMetrics(t.Context(), cp)
	y.requireNoError(err)
	jobs := append(alerting.ScrapeJobs(cp, time.Second), promserver.Job{Name: "kube-state-metrics", Interval: time.Second, Target: promserver.NewTargetAt(states)})
	server, err := promserver.New(t.Context(), t.TempDir(), jobs...)
	y.requireNoError(err)
	y.requireNoError(server.Start(t.Context()))
	t.Cleanup(server.Stop)
	o := alerting.Observer{Server: server, Namespace: y.Namespace}
	snapshot := o.TakeSnapshot(t)
	y.asksForImage(2, plan)
	y.awaitCanaryState(2, "AwaitingPromotion", "2/3")
	o.ExpectFiring(t, snapshot, "CanaryAwaitsAUser")
}
