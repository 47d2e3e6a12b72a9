package canary

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// twoWavePlan is the plan of a release at three Sites: a user promotes each weight.
func twoWavePlan(y *followedRelease) release.Plan {
	manualPause, half := release.Pause(""), release.Weight(50)
	return release.Plan{
		Steps: []any{release.Weight(5), manualPause, release.Weight(20), manualPause, half, manualPause},
		Waves: []any{
			map[string]any{"name": "first", "sites": []any{y.Sites[0].Name}},
			map[string]any{"name": "rest", "sites": []any{y.Sites[1].Name, y.Sites[2].Name}, "steps": []any{half, manualPause}},
		},
	}
}

// goesForward lets the second revision go through all weights, and measures them.
func goesForward(y *followedRelease, promotedAt time.Time) {
	y.Helper()
	a, b, c := y.Sites[0], y.Sites[1], y.Sites[2]
	y.awaitCanaryState(2, "AwaitingPromotion", "2/8")
	y.wantNoRequests("pods start without requests", track.Green, promotedAt, y.divisionsAt(a)[2].Since)
	y.wantTrackShare(a, track.Green, 5, counted)
	if output := y.runPlugin("promote", "--wait"); !strings.Contains(output, "Taken: ") {
		y.Errorf("promote --wait says %q", output)
	}
	y.awaitCanaryState(2, "AwaitingPromotion", "3/8")
	y.wantTrackShare(a, track.Green, 20, counted)
	y.promotesStep(2, 3)
	y.awaitCanaryState(2, "AwaitingPromotion", "4/8")
	y.wantTrackShare(a, track.Green, 50, counted)
	y.promotesStep(2, 4)
	y.awaitCanaryState(2, "AwaitingPromotion", "7/8")
	y.wantTrackShare(a, track.Green, 100, counted/10)
	y.wantTrackShare(b, track.Green, 50, counted/2)
	y.wantTrackShare(c, track.Green, 50, counted/2)
	y.promotesStep(2, 7)
	y.awaitOutcome(2, "Succeeded")
}

// editsIntent asks for the fifth revision while the fourth one has 20 percent: all requests go back before its pods change. That takes as long as engine and
// gateway need, so it is looked at from the push on that changes the pods.
func editsIntent(y *followedRelease, plan release.Plan) {
	y.Helper()
	y.wantTrackShare(y.Sites[0], track.Green, 20, counted/10)
	y.asksForImage(4, plan)
	y.awaitClaimStatus("requests go back before the fifth revision begins", func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "status", "revision") == 5 && scene.Field(o, "status", "canary", "state") != "Draining" && scene.Field(o, "status", "canary", "step") == "1/8"
	})
	y.awaitCanaryState(5, "AwaitingPromotion", "2/8")
	all := y.divisionsAt(y.Sites[0])
	begun, restarted := all[len(all)-2], all[len(all)-1]
	y.wantNoRequests("after an edit the canary has no requests until its pods are there", track.Green, begun.Since, restarted.Since)
}

// wantAbortedCanary gives the fifth revision up in its second wave, while the first Site has all requests at it, and the Sites of the other repository half of them.
func wantAbortedCanary(y *followedRelease) {
	y.Helper()
	for step := int64(2); step <= 4; step++ {
		y.awaitCanaryState(5, "AwaitingPromotion", fmt.Sprintf("%d/8", step))
		y.promotesStep(5, step)
	}
	y.awaitCanaryState(5, "AwaitingPromotion", "7/8")
	for i, s := range y.Sites {
		y.wantTrackShare(s, track.Green, []float64{100, 50, 50}[i], counted/10)
	}
	y.runPlugin("abort", "--wait")
	y.awaitOutcome(5, "RolledBack")
	for i, s := range y.Sites {
		y.wantTrackShare(s, track.Green, 0, counted/10)
		y.wantNoRequestsAt(i, "the pods of a canary that was given up have no requests when they go", track.Green, y.lastDivision(s).Since, time.Now())
	}
}

// lastDivision returns how the repository divides the requests of a Site now.
func (y *followedRelease) lastDivision(s *release.Site) release.Division {
	y.Helper()
	all := y.divisionsAt(s)
	return all[len(all)-1]
}
