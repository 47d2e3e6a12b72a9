package canary

import (
	"math"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/traffic"
)

const (
	// counted is how many requests a share is measured with.
	counted = 10_000

	// atOnce is how many of them are under way.
	atOnce = 8

	// tolerance is how far, in percent of all requests, a share may be from its weight.
	tolerance = 1.0
)

// TestShares measures, at each weight of a canary, which share of the requests each track answers.
func TestShares(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	files := s.beside(track.Blue, 1, 2, 5)
	for _, weight := range []int{0, 5, 20, 50, 100, 0} {
		files = s.at(files, track.State{Serving: track.Blue, Weight: weight, Ahead: 100})
		s.reach(files)
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

// countRequests sends requests once the gateway divides them by a new weight.
func (s *shop) countRequests(weight int) traffic.Answers {
	s.Helper()
	s.await("the gateway divides requests by the new weights", func() bool {
		return math.Abs(s.target.Send(s.Context(), 200, atOnce).Share(track.Green)-float64(weight)) <= tolerance
	})
	return s.target.Send(s.Context(), counted, atOnce)
}
