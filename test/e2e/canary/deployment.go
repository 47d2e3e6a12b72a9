package canary

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// twoWaves is the plan of a release at three Sites: a user promotes each weight.
func twoWaves(y *followedRelease) release.Plan {
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
func goesForward(y *followedRelease, asked time.Time) {
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
func isEdited(y *followedRelease, plan release.Plan) {
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
func isGivenUp(y *followedRelease) {
	y.Helper()
	y.sharesAt(y.Sites[0], track.Green, 5, counted/10)
	y.plugin("abort", "--wait")
	y.ends(5, "RolledBack")
	y.sharesAt(y.Sites[0], track.Green, 0, counted/10)
	all := y.divisions(y.Sites[0])
	y.givesNone("the pods of a canary that was given up have no requests when they go", track.Green, all[len(all)-1].Since, time.Now())
}
