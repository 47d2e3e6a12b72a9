package canary

import (
	"slices"
	"testing"

	"github.com/intentplane/intentplane/test/release"
)

// atTwentyPercent are the divisions of the requests until a canary has 20 percent, and takenBack those of its rollback.
var (
	atTwentyPercent = []string{"blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20"}
	takenBack       = []string{"blue 100, green 0", "blue 100"}
)

// TestCanaryWithoutFunction breaks a canary at 20 percent while the function does not run: the provider takes its requests away. The function finds the
// rollback, and ends it without another commit for a position that Git has.
func TestCanaryWithoutFunction(t *testing.T) {
	y := newMeasured(t)
	y.waitsAtTwentyPercent()
	y.losesRequestsWithout(cp.KillFunction)
	y.requireNoError(cp.RestartFunction(y.Context()))
	y.awaitOutcome(2, "RolledBack")
	y.wantFailuresOfPods()
	y.wantDivisions(y.Sites[0], slices.Concat(atTwentyPercent, takenBack)...)
}

// TestBadCanaryWithoutCore does the same while Crossplane's core does not run.
func TestBadCanaryWithoutCore(t *testing.T) {
	y := newMeasured(t)
	y.waitsAtTwentyPercent()
	y.losesRequestsWithout(cp.KillCore)
	y.requireNoError(cp.RestartCore(y.Context()))
	y.awaitOutcome(2, "RolledBack")
	y.wantFailuresOfPods()
	y.wantDivisions(y.Sites[0], slices.Concat(atTwentyPercent, takenBack)...)
}

// TestCanaryInTwoRepositoriesWithoutFunction breaks a canary at one of two Sites, each of which has its own repository, while the function does not run. The
// provider takes its requests away at both Sites, and the function finds the rollback.
func TestCanaryInTwoRepositoriesWithoutFunction(t *testing.T) {
	y := newMeasured(t, release.Place{Cluster: requireCluster(t, edge), Repository: 1})
	y.waitsAtTwentyPercent()
	y.losesRequestsInBothWithout(cp.KillFunction)
	y.requireNoError(cp.RestartFunction(y.Context()))
	y.awaitOutcome(2, "RolledBack")
	y.wantFailuresOfPods()
	for _, s := range y.Sites {
		y.wantDivisions(s, slices.Concat(atTwentyPercent, takenBack)...)
	}
}
