package canary

import (
	"math"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/test/traffic"
)

const (
	// counted is how many requests a share is measured with.
	counted = 10_000

	// atOnce is how many of them are under way.
	atOnce = 8

	// tolerance is the figure's limit of the distance between a share and its weight, in percent of all requests.
	tolerance = 1.0
)

// countRequests sends requests once the gateway divides them by a new weight.
func (s *shop) countRequests(weight int) traffic.Answers {
	s.Helper()
	s.pollUntilTrue("the gateway divides requests by the new weights", func() bool {
		return math.Abs(s.target.Send(s.Context(), 200, atOnce).Share(track.Green)-float64(weight)) <= tolerance
	})
	return s.target.Send(s.Context(), counted, atOnce)
}
