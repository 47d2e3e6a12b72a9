package canary

import (
	"slices"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/release"
)

// TestDeployment delivers revisions by a claim to three Sites, two of which are in one cluster, in two waves with steps of their own, over two
// repositories, while users send requests to all of them. The second revision goes through its weights to the end, and a user rolls it back. The
// third is edited at 20 percent, and the fourth is given up at two weights: all requests at the first Site, half of them at the others. No request
// fails.
func TestDeployment(t *testing.T) {
	t.Parallel()
	near := requireCluster(t, edge)
	y := newFollowedRelease(t, release.Options{}, release.Place{Cluster: near}, release.Place{Cluster: near, Repository: 1}, release.Place{Cluster: requireCluster(t, far), Repository: 1})
	plan := twoWavePlan(y)
	y.startsUsers(plan, perSecond/4)

	promotedAt := time.Now()
	y.asksForImage(2, plan)
	goesForward(y, promotedAt)
	y.runPlugin("rollback", "--to-revision=1", "--wait")
	y.awaitOutcome(3, "RolledBack")
	y.asksForImage(3, plan)
	y.awaitCanaryState(4, "AwaitingPromotion", "2/8")
	y.promotesStep(4, 2)
	y.awaitCanaryState(4, "AwaitingPromotion", "3/8")
	editsIntent(y, plan)
	wantAbortedCanary(y)

	y.stopAndCheckUsers()
	a, b, c := y.Sites[0], y.Sites[1], y.Sites[2]
	rolledBack := []string{"blue 0, green 100", "blue 100, green 0", "blue 100"}
	forward := []string{"blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 50, green 50", "blue 0, green 100", "green 100"}
	y.wantDivisions(a, slices.Concat(forward, rolledBack, []string{
		"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", // The fourth revision, until it is edited.
		"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 50, green 50", "blue 0, green 100", "blue 100, green 0", "blue 100", // The fifth one, until it is given up.
	})...)
	// The pods that the fourth revision needed for 50 percent, and all of the second and the fifth one.
	y.wantTrackPods(a, 2*release.Replicas, release.Replicas+2+release.Replicas)
	for _, s := range []*release.Site{b, c} {
		y.wantDivisions(s, slices.Concat([]string{"blue 100", "blue 100, green 0", "blue 50, green 50", "blue 0, green 100", "green 100"}, rolledBack, []string{
			"blue 100, green 0", "blue 50, green 50", "blue 100, green 0", "blue 100", // The fifth revision, until it is given up.
		})...)
		// Blue is the first revision, before and after the second one. Green is the second and the fifth one: at 50 percent there are the pods for all requests.
		y.wantTrackPods(s, 2*release.Replicas, 2*release.Replicas)
	}
}
