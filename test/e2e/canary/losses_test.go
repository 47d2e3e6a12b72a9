package canary

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/release"
)

// TestLosses loses an object at each step of a canary, then all of them, then the state in Git, and the provider between a push and the status that
// would show it. The canary comes to its end with the commits that it would have made anyhow.
func TestLosses(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	one := release.Pause("")
	plan := release.Plan{
		Steps: []any{release.Weight(5), one, release.Weight(20), one, release.Weight(40), one, release.Weight(60), one, release.Weight(80), one},
		Gates: release.Gates(time.Second, 1),
	}
	y.startsUsers(plan, perSecond/2)
	y.asksForImage(2, plan)
	for step, lose := range []func(){
		func() { y.losesSomething(deliveryKind) }, func() { y.losesSomething(syncKind) }, func() { y.losesSomething(gateKind) }, func() { y.losesSomething(deliveryKind, syncKind, gateKind) }, y.losesState,
	} {
		at := []string{"2/7", "3/7", "4/7", "5/7", "6/7"}[step]
		y.awaitState(2, "AwaitingPromotion", at)
		lose()
		y.awaitState(2, "AwaitingPromotion", at)
		if step == 4 {
			y.crashesAfterPush()
		}
		y.promotesStep(2, int64(step)+2)
	}
	y.awaitOutcome(2, "Succeeded")
	y.stopUsers()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 60, green 40", "blue 40, green 60", "blue 20, green 80",
		"blue 0, green 100", "green 100")
	if got := len(y.Pushes(y.Namespace)); got != 9 {
		t.Errorf("want a commit for each step and no other, so 9, got %d", got)
	}
	y.wantPods(y.Sites[0], release.Replicas, release.Replicas)
}
