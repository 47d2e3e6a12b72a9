package canary

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/track"
)

// TestLag measures how long a gateway goes on to divide requests by the old weights after it has reported that it accepts the new weights: no status
// shows when it follows. It has just been changed, or not for a while.
func TestLag(t *testing.T) {
	t.Parallel()
	s := newServingShop(t)
	files := s.filesBeside(track.Blue, 1, 2, 100)
	s.awaitReached(files)
	s.keepFluxOut()
	for name, pause := range map[string]time.Duration{"Quiet": 5 * time.Second, "JustChanged": 200 * time.Millisecond} {
		longest := time.Duration(0)
		for move := range moves {
			time.Sleep(pause)
			longest = max(longest, s.measureRouteLag([]string{track.Green, track.Blue}[move%2]))
		}
		t.Logf("%s: requests follow up to %s after the route is accepted", name, longest.Round(10*time.Millisecond))
		if longest >= defaultDrain {
			t.Errorf("%s: the gateway follows after %s: a drain of %s does not cover that", name, longest, defaultDrain)
		}
	}
}
