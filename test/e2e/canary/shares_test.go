package canary

import (
	"math"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
)

// TestShares measures, at each weight of a canary, which share of the requests each track answers.
func TestShares(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	files := s.filesBeside(track.Blue, 1, 2, 5)
	for _, weight := range []int{0, 5, 20, 50, 100, 0} {
		files = s.stateAt(files, track.State{Serving: track.Blue, Weight: weight, Ahead: 100})
		s.awaitReached(files)
		got := s.countRequests(weight)
		if failed := got.Failed(); len(failed) > 0 {
			t.Errorf("at weight %d requests fail: %s", weight, got)
		}
		if off := math.Abs(got.Share(track.Green) - float64(weight)); off > tolerance || weight == 0 && off > 0 {
			t.Errorf("at weight %d: want this share of the requests at track green, got %s", weight, got)
		}
		t.Logf("weight %d: share %.2f", weight, got.Share(track.Green))
	}
}
