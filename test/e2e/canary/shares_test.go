package canary

import (
	"fmt"
	"math"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/figure"
)

// TestShares measures, at each weight of a canary, which share of the requests each track answers.
func TestShares(t *testing.T) {
	t.Parallel()
	s := newServingShop(t)
	files := s.filesBeside(track.Blue, 1, 2, 5)
	for _, weight := range []int{0, 5, 20, 50, 100, 0} {
		files = s.filesInState(files, track.State{Serving: track.Blue, Weight: weight, Ahead: 100})
		s.awaitReached(files)
		got := s.countRequests(weight)
		if failed := got.Failed(); len(failed) > 0 {
			t.Errorf("at weight %d requests fail: %s", weight, got)
		}
		if weight == 0 && got.Share(track.Green) > 0 {
			t.Errorf("track green gets requests at weight 0: %s", got)
		}
		figure.Check(t, fmt.Sprintf("share_off_weight_%d", weight), math.Abs(got.Share(track.Green)-float64(weight)), tolerance)
	}
}
