package canary

import (
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/release"
)

// waitsAtTwentyPercent delivers a first revision, and a second one that waits for a user with 20 percent of the requests. At each Site, each tenth request to
// either track fails.
func (y *measured) waitsAtTwentyPercent() {
	y.Helper()
	plan := release.Plan{
		Steps: []any{map[string]any{"weight": int64(5), "gate": false}, release.Pause("1s"), release.Weight(20), release.Pause("")},
		Gates: release.Gates(gateInterval, 1),
	}
	y.startsUsers(plan, perSecond)
	for _, s := range y.Sites {
		s.Faults.FailEvery(10, s.Namespace, track.Blue)
		s.Faults.FailEvery(10, s.Namespace, track.Green)
	}
	y.asksForImage(2, plan)
	y.awaitCanaryState(2, "AwaitingPromotion", "3/4")
}

// losesRequestsWithout kills a program without which the function is not called, breaks the canary, and waits until Git gives the canary no requests.
func (y *measured) losesRequestsWithout(kill func()) {
	y.Helper()
	kill()
	broken := time.Now()
	y.failNthRequests(2, track.Green)
	y.awaitsDivision("blue 100, green 0")
	y.awaitCondition("the gateway gives the canary no requests", func() bool {
		return y.Sites[0].Target.Send(y.Context(), requestsToCount, atOnce).Share(track.Green) == 0
	})
	figure.Check(y.T, "orphan_breach_to_weight_zero_s", y.requestsAfterScrape(broken).Seconds(), (gateInterval + 2*time.Second).Seconds())
}

// losesRequestsInBothWithout does the same for a canary at two Sites, each of which has its own repository: Git gives the canary no requests at either Site.
func (y *measured) losesRequestsInBothWithout(kill func()) {
	y.Helper()
	kill()
	broken := time.Now()
	y.failNthRequests(2, track.Green)
	for _, s := range y.Sites {
		y.awaitsDivisionAt(s, "blue 100, green 0")
		y.awaitCondition(s.Name+": the gateway gives the canary no requests", func() bool {
			return s.Target.Send(y.Context(), requestsToCount, atOnce).Share(track.Green) == 0
		})
	}
	for i, s := range y.Sites {
		figure.Check(y.T, "orphan_breach_to_weight_zero_s of "+s.Name, y.requestsAtSite(i, broken).Seconds(), (gateInterval + followedWithin).Seconds())
	}
}

// followedWithin is how long after the interval of a Gate a bad canary in two repositories gets requests at the most.
const followedWithin = 3 * time.Second

// wantFailuresOfPods stops the users, and checks that only the pods failed requests.
func (y *measured) wantFailuresOfPods() {
	y.Helper()
	for _, u := range y.users {
		for _, a := range u.Stop().Failed() {
			if a.Track == "" || !strings.HasPrefix(a.Failure, "500 ") {
				y.Errorf("a request fails otherwise than the pods do: %+v", a)
			}
		}
	}
}

// requestsToCount is how many requests are sent to see that a track gets none.
const requestsToCount = 400
