package canary

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// TestDeployment delivers revisions by a claim to three Sites, two of which are in one cluster, in two waves with steps of their own, over two
// repositories, while users send requests to all of them. The second revision goes through its weights to the end, and a user rolls it back. The next one is
// edited at 20 percent, and the one after that is given up. No request fails.
func TestDeployment(t *testing.T) {
	t.Parallel()
	near := clusterOf(t, edge)
	y := newTale(t, release.Options{}, release.Place{Cluster: near}, release.Place{Cluster: near, Repository: 1}, release.Place{Cluster: clusterOf(t, far), Repository: 1})
	plan := twoWaves(y)
	y.begins(plan, perSecond/2)

	asked := time.Now()
	y.asks(2, plan)
	goesForward(y, asked)
	y.plugin("rollback", "--to-revision=1", "--wait")
	y.ends(3, "RolledBack")
	y.asks(3, plan)
	y.reaches(4, "AwaitingPromotion", "2/8")
	y.promotes(4, 2)
	y.reaches(4, "AwaitingPromotion", "3/8")
	isEdited(y, plan)
	isGivenUp(y)

	y.stops()
	a, b, c := y.Sites[0], y.Sites[1], y.Sites[2]
	rolledBack := []string{"blue 0, green 100", "blue 100, green 0", "blue 100"}
	forward := []string{"blue 100", "blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 50, green 50", "blue 0, green 100", "green 100"}
	y.wantDivisions(a, slices.Concat(forward, rolledBack, []string{
		"blue 100, green 0", "blue 95, green 5", "blue 80, green 20", "blue 100, green 0", // The fourth revision, until it is edited.
		"blue 100, green 0", "blue 95, green 5", "blue 100, green 0", "blue 100", // The fifth one, until it is given up.
	})...)
	// The pods that the fourth revision needed for 50 percent, and the fifth one for 20.
	y.wantPods(a, 2*release.Replicas, release.Replicas+2+1)
	for _, s := range []*release.Site{b, c} {
		y.wantDivisions(s, slices.Concat([]string{"blue 100", "blue 100, green 0", "blue 50, green 50", "blue 0, green 100", "green 100"}, rolledBack)...)
		// Blue is the first revision, before and after the second one.
		y.wantPods(s, 2*release.Replicas, release.Replicas)
	}
}

// twoWaves is the plan of a release at three Sites: a user promotes each weight.
func twoWaves(y *tale) release.Plan {
	one, half := release.Pause(""), release.Weight(50)
	return release.Plan{
		Steps: []any{release.Weight(5), one, release.Weight(20), one, half, one},
		Waves: []any{
			map[string]any{"name": "first", "sites": []any{y.Sites[0].Name}},
			map[string]any{"name": "rest", "sites": []any{y.Sites[1].Name, y.Sites[2].Name}, "steps": []any{half, one}},
		},
	}
}

// goesForward lets the second revision go through all weights, and measures them.
func goesForward(y *tale, asked time.Time) {
	y.Helper()
	a, b, c := y.Sites[0], y.Sites[1], y.Sites[2]
	y.reaches(2, "AwaitingPromotion", "2/8")
	y.givesNone("pods start without requests", track.Green, asked, y.divisions(a)[2].Since)
	y.sharesAt(a, track.Green, 5, counted)
	if said := y.plugin("promote", "--wait"); !strings.Contains(said, "Taken: ") {
		y.Errorf("promote --wait says %q", said)
	}
	y.reaches(2, "AwaitingPromotion", "3/8")
	y.sharesAt(a, track.Green, 20, counted)
	y.promotes(2, 3)
	y.reaches(2, "AwaitingPromotion", "4/8")
	y.sharesAt(a, track.Green, 50, counted)
	y.promotes(2, 4)
	y.reaches(2, "AwaitingPromotion", "7/8")
	y.sharesAt(a, track.Green, 100, counted/10)
	y.sharesAt(b, track.Green, 50, counted/2)
	y.sharesAt(c, track.Green, 50, counted/2)
	y.promotes(2, 7)
	y.ends(2, "Succeeded")
}

// isEdited asks for the fifth revision while the fourth one has 20 percent: all requests go back before its pods change. That takes as long as engine and
// gateway need, so it is looked at from the push on that changes the pods.
func isEdited(y *tale, plan release.Plan) {
	y.Helper()
	y.sharesAt(y.Sites[0], track.Green, 20, counted/10)
	y.asks(4, plan)
	y.sees("requests go back before the fifth revision begins", func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "status", "revision") == 5 && scene.Field(o, "status", "canary", "state") != "Draining" && scene.Field(o, "status", "canary", "step") == "1/8"
	})
	y.reaches(5, "AwaitingPromotion", "2/8")
	all := y.divisions(y.Sites[0])
	begun, again := all[len(all)-2], all[len(all)-1]
	y.givesNone("after an edit the canary has no requests until its pods are there", track.Green, begun.Since, again.Since)
}

// isGivenUp aborts the fifth revision at 5 percent.
func isGivenUp(y *tale) {
	y.Helper()
	y.sharesAt(y.Sites[0], track.Green, 5, counted/10)
	y.plugin("abort", "--wait")
	y.ends(5, "RolledBack")
	y.sharesAt(y.Sites[0], track.Green, 0, counted/10)
	all := y.divisions(y.Sites[0])
	y.givesNone("the pods of a canary that was given up have no requests when they go", track.Green, all[len(all)-1].Since, time.Now())
}
