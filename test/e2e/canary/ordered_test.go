package canary

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
)

// TestCanaryWithoutCore kills Crossplane's core once a canary is ordered: the provider takes each step, verifies the revision and removes
// the other track. The core finds a canary that has succeeded, and makes no commit.
func TestCanaryWithoutCore(t *testing.T) {
	y := newMeasured(t)
	plan := measuredPlan()
	y.startsUsers(plan, perSecond)
	y.failNthRequests(10, track.Blue)
	y.failNthRequests(10, track.Green)
	y.asksForImage(2, plan)
	y.killsCoreOnceOrdered(2, 3)

	y.awaitsDivision("green 100")
	commits := y.countCommits()
	if report := y.runPlugin("status"); !strings.Contains(report, "by its mandate") {
		t.Errorf("status: want it to say that the provider went on, got:\n%s", report)
	}
	y.requireNoError(cp.RestartCore(y.Context()))
	y.wantLegalTransitions(y.awaitOutcome(2, "Succeeded"))
	if got := y.countCommits(); got != commits {
		t.Errorf("commits after the core is back: want %d, got %d", commits, got)
	}
	y.wantFailuresOfPods()
	y.wantDivisions(y.Sites[0], "blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 0, green 100", "green 100")
}
