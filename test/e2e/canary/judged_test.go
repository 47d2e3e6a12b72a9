package canary

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
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
	y.failsGate(10, track.Blue)
	y.failsGate(10, track.Green)

	y.asksForImage(2, plan)
	y.awaitState(2, "AwaitingPromotion", "3/4")
	y.runPart("TestBackgroundAnalysisWithArgs", y.checkQueries)
	y.playOutage()
	y.answersWorse()
	y.failsGate(10, track.Green)

	y.asksForImage(3, plan)
	y.awaitState(3, "AwaitingPromotion", "3/4")
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
