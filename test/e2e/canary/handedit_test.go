package canary

import (
	"maps"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
)

// TestWeightsChangedInGit changes the weights of a canary in Git by hand while it waits for a user. The provider restores them, the step counts as it did before,
// and the canary goes on when the user promotes it. No request fails.
func TestWeightsChangedInGit(t *testing.T) {
	t.Parallel()
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{release.Weight(5), release.Pause("")}}
	y.startsUsers(plan, perSecond/4)
	y.asksForImage(2, plan)
	y.awaitCanaryState(2, "AwaitingPromotion", "2/3")
	files := y.filesWithWeights(95, 5)
	if len(files) == 0 {
		t.Fatal("no file divides requests by 95 and 5")
	}
	y.editsWeights(files, []int{95, 5}, []int{30, 70})
	if got := y.filesWithWeights(30, 70); len(got) != len(files) {
		t.Fatalf("the edit is not in Git: %v", got)
	}
	y.awaitCondition("the weights in Git are restored", func() bool { return maps.Equal(y.filesWithWeights(95, 5), files) })
	y.awaitCanaryState(2, "AwaitingPromotion", "2/3")
	y.wantTrackShare(y.Sites[0], track.Green, 5, counted/10)
	y.promotesStep(2, 2)
	y.awaitOutcome(2, "Succeeded")
	y.stopAndCheckUsers()
}
