package canary

import (
	"testing"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
)

// TestMove moves a deployment at two Sites, from two repositories, from a Blueprint without tracks to one with, and back, while users send requests. Moves
// are given up before they have any requests, and once they have all.
func TestMove(t *testing.T) {
	t.Parallel()
	cluster := requireCluster(t, edge)
	y := newFollowedRelease(t, release.Options{Prometheus: "http://127.0.0.1:9"}, release.Place{Cluster: cluster}, release.Place{Cluster: cluster, Repository: 1})
	tracked, plain := release.Plan{Steps: []any{release.Weight(20), release.Pause("")}}, release.Plan{IsPlain: true}

	y.startsUsers(plain, perSecond/4)
	y.runReleasePart("TestBlueGreenToCanary", func(y *followedRelease) {
		y.asksForImage(2, tracked)
		y.awaitOutcome(2, "Succeeded")
		y.asksForImage(3, tracked)
		y.awaitCanaryState(3, "AwaitingPromotion", "2/3")
		y.wantTrackShare(y.Sites[0], track.Green, 20, counted/10)
		y.promotesStep(3, 2)
		y.awaitOutcome(3, "Succeeded")
	})
	y.isMovedInVain(4, plain)
	y.asksForImage(5, plain)
	y.awaitOutcome(5, "Succeeded")

	y.asksForImage(6, tracked)
	y.awaitCanaryState(6, "Preparing", "1/2")
	y.requireNoError(y.Request(y.Context(), rolloutv1alpha1.ActionAbort, 6, nil))
	y.awaitOutcome(6, "RolledBack")
	// No object has the restored content of a rollback, which a move needs.
	scaled := plain
	scaled.Replicas = release.Replicas + 1
	y.asksForImage(5, scaled)
	y.awaitOutcome(7, "Succeeded")
	y.isMovedInVain(8, tracked)

	y.stopAndCheckUsers()
	for _, s := range y.Sites {
		y.wantDivisions(s, "plain 100",
			"blue 0, plain 100", "blue 100, plain 0", "blue 100", // The second revision, in track blue.
			"blue 100, green 0", "blue 80, green 20", "blue 0, green 100", "green 100",
			"green 100, plain 0", "green 0, plain 100", "green 100, plain 0", "green 100", // The fourth one, which is given up at the end.
			"green 100, plain 0", "green 0, plain 100", "plain 100",
			"blue 0, plain 100", "plain 100", "plain 100", // The sixth one, which is given up, and the seventh.
			"blue 0, plain 100", "blue 100, plain 0", "blue 0, plain 100", "plain 100")
		// How many pods in track blue start before a revision is given up is not said.
		y.wantStarted(s, map[string]int{"": release.Replicas, track.Green: release.Replicas, track.Plain: 2*release.Replicas + 1})
	}
}
