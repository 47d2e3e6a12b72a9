package disruption

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestKillProvider kills the provider at each critical moment, and starts it again.
func TestKillProvider(t *testing.T) {
	rounds, random := soak.Random(t, 10, 50)
	f := newFleet(scene.New(t, cp, "edge1"), 4)
	f.awaitAllOrders()
	var next []moment
	for round := range rounds {
		if len(next) == 0 {
			next = randomMoments(random)
			random.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		}
		began := time.Now()
		f.killMeanwhile(next[0])
		t.Logf("round %d: %s, %s", round+1, next[0].name, time.Since(began).Round(time.Millisecond))
		next = next[1:]
		if f.wantEachCommitOnce(); t.Failed() {
			return
		}
	}
}
