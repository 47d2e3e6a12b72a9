package canary

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
)

// TestCanaryWithoutFunction breaks a canary at 20 percent while the function does not run: the provider takes its requests away. The function finds the
// rollback, and ends it without another commit for a position that Git has.
func TestCanaryWithoutFunction(t *testing.T) {
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

	y.losesRequestsBySilence()
	y.must(cp.RestartFunction(y.Context()))
	y.awaitOutcome(2, "RolledBack")
	for _, a := range y.users[0].Stop().Failed() {
		if a.Track == "" || !strings.HasPrefix(a.Failure, "500 ") {
			t.Errorf("a request fails otherwise than the pods do: %+v", a)
		}
	}
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", "blue 100")
}
