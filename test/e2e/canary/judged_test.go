package canary

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// TestJudged judges canaries against the stable revision beside them, one of whose requests in ten fails. Steps at 20 percent are judged, and wait for a
// user, and are measured meanwhile.
func TestJudged(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	plan := release.Plan{
		Steps: []any{map[string]any{"weight": int64(5), "gate": false}, release.Pause("1s"), release.Weight(20), release.Pause("")},
		Gates: release.Gates(gateInterval, 1),
	}
	y.startsUsers(plan, perSecond)
	y.failNthRequests(10, track.Blue)
	y.failNthRequests(10, track.Green)

	y.asksForImage(2, plan)
	y.awaitCanaryState(2, "AwaitingPromotion", "3/4")
	y.runReleasePart("TestBackgroundAnalysisWithArgs", y.checkQueries)
	y.restartPrometheus()
	y.answersWorse()
	y.failNthRequests(10, track.Green)

	y.asksForImage(3, plan)
	y.awaitCanaryState(3, "AwaitingPromotion", "3/4")
	y.promotesStep(3, 3)
	y.awaitOutcome(3, "Succeeded")
	for _, a := range y.users[0].Stop().Failed() {
		if a.Track == "" || !strings.HasPrefix(a.Failure, "500 ") {
			t.Errorf("a request fails otherwise than the pods do: %+v", a)
		}
	}
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", "blue 100",
		"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 0, green 100", "green 100")
}

// TestBreachInLastMinute lets a canary that passed its Gate fail requests in the last minute of the pause behind it: it is rolled back before the pause ends.
func TestBreachInLastMinute(t *testing.T) {
	t.Parallel()
	const length = 90 * time.Second
	y := newMeasured(t)
	plan := release.Plan{Steps: []any{release.Weight(20), release.Pause(length.String())}, Gates: release.Gates(gateInterval, 1)}
	y.startsUsers(plan, perSecond)
	y.asksForImage(2, plan)
	paused, err := y.AwaitSync(y.Context(), "the pause begins", func(o *unstructured.Unstructured) bool {
		return scene.Condition(o, "Released").Reason == "Pausing" && !release.PauseStart(o).IsZero()
	})
	y.requireNoError(err)
	y.awaitCanaryState(2, "Paused", "2/3")
	end := release.PauseStart(paused).Add(length)
	y.sleepUntil(end.Add(-50 * time.Second))
	y.failNthRequests(2, track.Green)
	observed := y.awaitOutcome(2, "RolledBack")
	if message := scene.Field(observed, "status", "message"); !strings.Contains(message, "GateFailed") {
		t.Errorf("the canary is not rolled back by its Gate: %s", message)
	}
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 80, green 20", "blue 100, green 0", "blue 100")
}

// sleepUntil waits for a moment.
func (y *followedRelease) sleepUntil(deadline time.Time) {
	y.Helper()
	select {
	case <-time.After(time.Until(deadline)):
	case <-y.Context().Done():
		y.Fatal(y.Context().Err())
	}
}

// TestUserDecides gives canaries no request that could be judged. Their Gates hold them at each weight: a user promotes one to its end, and gives the next one up.
func TestUserDecides(t *testing.T) {
	t.Parallel()
	y := newMeasured(t)
	plan := release.Plan{Steps: []any{release.Weight(20)}, OnInconclusive: "Hold", Gates: release.Gates(gateInterval, 1)}
	rules, _ := plan.Gates["metricRules"].(map[string]any)
	for _, r := range rules {
		if rule, ok := r.(map[string]any); ok {
			rule["noData"] = "Inconclusive"
		}
	}
	first := plan
	first.Gates = nil
	y.asksForImage(1, first)
	y.awaitOutcome(1, "Succeeded")

	y.asksForImage(2, plan)
	y.awaitHeld(2, 2)
	y.promotesStep(2, 2)
	y.awaitHeld(2, 3)
	y.promotesStep(2, 3)
	y.awaitOutcome(2, "Succeeded")

	y.asksForImage(3, plan)
	y.awaitHeld(3, 2)
	y.runPlugin("abort", "--yes")
	y.awaitClaimStatus("the canary is given up", func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "status", "liveRevision") == 2 && scene.Field(o, "status", "canary", "state") == ""
	})
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 80, green 20", "blue 0, green 100", "green 100",
		"blue 0, green 100", "blue 20, green 80", "blue 0, green 100", "green 100")
}

// awaitHeld waits until a revision is held at one of its three steps, since the Gate of that step is inconclusive, and says which step to promote.
func (y *measured) awaitHeld(revision, step int64) {
	y.Helper()
	y.awaitCanaryState(revision, "Held", fmt.Sprintf("%d/3", step))
	observed := y.awaitClaimStatus("a user is awaited", func(o *unstructured.Unstructured) bool {
		return scene.Is(o, "Reconciling", corev1.ConditionTrue, "Held") && scene.Field(o, "status", "phase") != "Failed"
	})
	if diff := cmp.Diff(step, scene.Number(observed, "status", "canary", "promote")); diff != "" {
		y.Errorf("step to promote: -want, +got:\n%s", diff)
	}
	y.awaitGate("the Gate of the step is inconclusive", func(o *unstructured.Unstructured) bool {
		isOfStep := scene.Number(o, "spec", "forProvider", "position", "revision") == revision && scene.Number(o, "spec", "forProvider", "position", "step") == step-1
		return isOfStep && scene.Is(o, "Ready", corev1.ConditionFalse, "Inconclusive")
	})
}
