package canary

import (
	"time"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/figure"
)

// losesRequestsBySilence kills the function, breaks the canary, and waits until Git gives the canary no requests.
func (y *measured) losesRequestsBySilence() {
	y.Helper()
	cp.KillFunction()
	broken := time.Now()
	y.failsGate(2, track.Green)
	y.until("Git gives the canary no requests", func() bool {
		all := y.divisionsAt(y.Sites[0])
		return all[len(all)-1].String() == "blue 100, green 0"
	})
	y.until("the gateway gives the canary no requests", func() bool {
		return y.Sites[0].Target.Send(y.Context(), requestsToCount, atOnce).Share(track.Green) == 0
	})
	figure.Check(y.T, "orphan_breach_to_weight_zero_s", y.requestsAfterScrape(broken).Seconds(), (gateInterval + 2*time.Second).Seconds())
}

// requestsToCount is how many requests are sent to see that a track gets none.
const requestsToCount = 400
