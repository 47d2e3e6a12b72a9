package canary

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/release"
)

// TestPauses pauses for 2, 10 and 30 seconds, the second time over a restart of the provider, the third time over a change of its leader, and then until
// a user promotes the step, over another restart. No pause is short, and nothing is written while a user is awaited.
func TestPauses(t *testing.T) {
	t.Parallel()
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{
		release.Weight(5), release.Pause("2s"), release.Weight(20), release.Pause("10s"), release.Weight(50), release.Pause("30s"), release.Weight(80), release.Pause(""),
	}}
	y.startsUsers(plan, perSecond/4)
	y.asksForImage(2, plan)
	y.pausesFor(2*time.Second, nil)
	y.pausesFor(10*time.Second, y.restartsProvider)
	y.pausesFor(30*time.Second, y.changesLeader)
	y.awaitState(2, "AwaitingPromotion", "5/6")
	y.writesNothing()
	y.promotesStep(2, 5)
	y.awaitOutcome(2, "Succeeded")
	y.stopUsers()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 50, green 50", "blue 20, green 80", "blue 0, green 100", "green 100")
	y.wantPods(y.Sites[0], release.Replicas, release.Replicas)
}
