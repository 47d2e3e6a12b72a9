package canary

import (
	"fmt"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
)

// aborted are the weights at which canaries are given up, and the steps of a plan in which they have them.
var aborted = []struct {
	step   int64
	weight int
}{{step: 1, weight: 0}, {step: 2, weight: 5}, {step: 3, weight: 20}, {step: 4, weight: 50}, {step: 5, weight: 100}}

// divisionsUntil returns the divisions of a canary in track green that is given up at a weight.
func divisionsUntil(weight int) []string {
	out := []string{"blue 100, green 0"}
	for _, a := range aborted[1:] {
		if a.weight <= weight {
			out = append(out, fmt.Sprintf("blue %d, green %d", 100-a.weight, a.weight))
		}
	}
	if weight > 0 {
		out = append(out, "blue 100, green 0")
	}
	return append(out, "blue 100")
}

// isGivenUpAt lets a canary go to a step, and gives it up there.
func (y *followedRelease) isGivenUpAt(revision, step int64, plan release.Plan) {
	y.Helper()
	y.asksForImage(int(revision), plan)
	for number := int64(1); number < step; number++ {
		y.awaitCanaryState(revision, "AwaitingPromotion", fmt.Sprintf("%d/5", number))
		y.promotesStep(revision, number)
	}
	y.awaitCanaryState(revision, "AwaitingPromotion", fmt.Sprintf("%d/5", step))
	y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, revision, nil))
	y.awaitOutcome(revision, "RolledBack")
}

// isVerifiedAt lets a canary go to its end, through all steps, each of which the command line names by its number.
func (y *followedRelease) isVerifiedAt(revision int64, plan release.Plan) {
	y.Helper()
	y.asksForImage(int(revision), plan)
	for number := int64(1); number <= 5; number++ {
		y.awaitCanaryState(revision, "AwaitingPromotion", fmt.Sprintf("%d/5", number))
		y.runPlugin("promote", fmt.Sprintf("--step=%d", number))
	}
	y.awaitOutcome(revision, "Succeeded")
}
