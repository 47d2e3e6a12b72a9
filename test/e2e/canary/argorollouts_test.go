package canary

import (
	"testing"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// TestArgoRollouts plays sequences of Argo Rollouts' end-to-end tests, under their names, with real requests.
func TestArgoRollouts(t *testing.T) {
	t.Parallel()
	y := newReleaseAt(t, release.Options{})
	plan := release.Plan{Steps: []any{release.Weight(20), release.Pause(""), release.Weight(50), release.Pause("")}}
	y.startsUsers(plan, perSecond/4)
	y.runReleasePart("TestCanaryScaleDownOnAbort", func(y *followedRelease) {
		y.asksForImage(2, plan)
		y.awaitCanaryState(2, "AwaitingPromotion", "2/4")
		y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, 2, nil))
		y.awaitOutcome(2, "RolledBack")
		y.staysForDrain()
	})
	y.runReleasePart("TestRolloutAbortRetryPromote", func(y *followedRelease) {
		y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionRetry, 2, nil))
		y.awaitCanaryState(3, "AwaitingPromotion", "2/4")
		y.promotesStep(3, 2)
		y.awaitCanaryState(3, "AwaitingPromotion", "3/4")
		y.promotesStep(3, 3)
		y.awaitOutcome(3, "Succeeded")
	})
	y.runReleasePart("TestCanaryScaleDownDelay", (*followedRelease).staysForDrain)
	y.runReleasePart("TestCanaryPromoteFull", func(y *followedRelease) {
		y.asksForImage(3, plan)
		y.awaitCanaryState(4, "AwaitingPromotion", "2/4")
		y.runPlugin("promote", "--full", "--wait")
		y.awaitOutcome(4, "Succeeded")
	})
	y.runReleasePart("TestIstioAbortUpdateDeleteAllCanaryPods", func(y *followedRelease) {
		y.asksForImage(4, plan)
		y.awaitCanaryState(5, "AwaitingPromotion", "2/4")
		y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, 5, nil))
		y.asksForImage(5, plan)
		y.awaitCanaryState(6, "AwaitingPromotion", "2/4")
		y.wantTrackShare(y.Sites[0], track.Green, 20, counted/10)
	})
	// Argo Rollouts replaces the canary's pods while they have their weight. Here the requests go back first, and no pod answers that a later edit replaces.
	y.runReleasePart("TestIstioUpdateInMiddleZeroCanaryReplicas", func(y *followedRelease) {
		y.asksForImage(6, plan)
		y.awaitCanaryState(7, "AwaitingPromotion", "2/4")
		y.wantTrackShare(y.Sites[0], track.Green, 20, counted/10)
	})
	y.runReleasePart("TestALBPingPongUpdate", func(y *followedRelease) {
		y.runPlugin("promote", "--full", "--wait")
		if got := scene.Field(y.awaitOutcome(7, "Succeeded"), "status", "canary", "track"); got != track.Green {
			y.Errorf("want the last revision in track green, after blue, green and blue, got %s", got)
		}
	})
	// Argo Rollouts may scale the stable pods down with their weight. Here they stay, so none is created again. An edit back to the stable image has no
	// steps.
	y.runReleasePart("TestCanaryDynamicStableScaleRollbackToStable", func(y *followedRelease) {
		y.asksForImage(7, plan)
		y.awaitCanaryState(8, "AwaitingPromotion", "2/4")
		y.wantTrackShare(y.Sites[0], track.Blue, 20, counted/10)
		y.asksForImage(6, plan)
		y.awaitOutcome(9, "Succeeded")
		y.staysForDrain()
		y.stopAndCheckUsers()
		y.wantDivisions(y.Sites[0], "blue 100",
			"blue 100, green 0", "blue 80, green 20", "blue 100, green 0", "blue 100", // Revision 2 is given up.
			"blue 100, green 0", "blue 80, green 20", "blue 50, green 50", "blue 0, green 100", "green 100", // The revision is retried.
			"blue 0, green 100", "blue 20, green 80", "blue 20, green 80", "blue 100, green 0", "blue 100", // The pods for all requests come first.
			"blue 100, green 0", "blue 80, green 20", "blue 100, green 0", "blue 100, green 0", // Revision 5 is given up, and another revision follows.
			"blue 80, green 20", "blue 100, green 0", "blue 100, green 0", // Revision 6 is edited in the middle.
			"blue 80, green 20", "blue 80, green 20", "blue 0, green 100", "green 100",
			"blue 0, green 100", "blue 20, green 80", "blue 0, green 100", "green 100") // Revision 8 is edited back to the stable one.
		// At 20 percent there are the 2 pods that 50 percent need.
		y.wantTrackPods(y.Sites[0], release.Replicas+release.Replicas+2, 2+release.Replicas+2+2+release.Replicas)
	})
}
