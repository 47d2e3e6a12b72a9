package canary

import (
	"fmt"
	"testing"
	"time"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
)

// TestLosses loses objects at each step of a canary, from the step without requests to the step with all of them, the state in Git at two of them,
// the provider between a push and the status that would show it, and all objects, with the state, once a user has released the verdict. The canary
// comes to its end with the same commits as without the losses.
func TestLosses(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	manualPause := release.Pause("")
	plan := release.Plan{
		Steps: []any{
			manualPause, release.Weight(5), manualPause, release.Weight(20), manualPause, release.Weight(40), manualPause, release.Weight(60),
			manualPause, release.Weight(80), manualPause, release.Weight(100), manualPause,
		},
		Gates: release.Gates(time.Second, 1),
	}
	y.startsUsers(plan, perSecond/4)
	y.asksForImage(2, plan)
	for i, lose := range []func(){
		func() { y.losesSomething(deliveryKind, syncKind) }, func() { y.losesSomething(deliveryKind) }, func() { y.losesSomething(syncKind) },
		func() { y.losesSomething(gateKind) },
		func() { y.losesSomething(deliveryKind, syncKind, gateKind) }, y.deleteStateRef, func() { y.losesSomething(deliveryKind, syncKind, gateKind); y.deleteStateRef() },
	} {
		progress := fmt.Sprintf("%d/7", i+1)
		if progress == "7/7" {
			y.awaitDivisions(8)
			y.deleteObjects(deliveryKind, syncKind, gateKind)
		}
		y.awaitCanaryState(2, "AwaitingPromotion", progress)
		lose()
		y.awaitCanaryState(2, "AwaitingPromotion", progress)
		if progress == "6/7" {
			y.crashesAfterPush()
		}
		y.promotesStep(2, int64(i)+1)
	}
	y.deleteObjects(deliveryKind, syncKind, gateKind)
	y.deleteStateRef()
	y.awaitOutcome(2, "Succeeded")
	y.stopAndCheckUsers()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 60, green 40", "blue 40, green 60", "blue 20, green 80",
		"blue 0, green 100", "green 100")
	if got := len(y.Pushes(y.Namespace)); got != 9 {
		t.Errorf("want a commit for each step and no other, so 9, got %d", got)
	}
	y.wantTrackPods(y.Sites[0], release.Replicas, release.Replicas)
}

// TestLossesInRollback gives a canary up in the moment in which its objects are lost, and loses them again while its requests leave it, and once more, with the
// state, while it drains. Requests leave the canary before its pods go, no request fails, and no commit is one more.
func TestLossesInRollback(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	plan := release.Plan{Steps: []any{release.Weight(5), release.Pause(""), release.Weight(20), release.Pause("")}, Gates: release.Gates(time.Second, 1)}
	y.startsUsers(plan, perSecond/4)
	y.asksForImage(2, plan)
	y.awaitCanaryState(2, "AwaitingPromotion", "2/4")
	y.losesSomething(gateKind)
	y.awaitCanaryState(2, "AwaitingPromotion", "2/4")
	y.promotesStep(2, 2)
	y.awaitCanaryState(2, "AwaitingPromotion", "3/4")
	y.deleteObjects(deliveryKind, syncKind, gateKind)
	y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, 2, nil))
	y.awaitDivisions(5)
	y.deleteObjects(deliveryKind, syncKind)
	y.awaitCanaryState(2, "Draining", "3/4")
	y.deleteObjects(deliveryKind, syncKind)
	y.deleteStateRef()
	y.awaitOutcome(2, "RolledBack")
	y.stopAndCheckUsers()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", "blue 100")
}
