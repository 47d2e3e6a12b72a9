package applications

import (
	"time"

	"github.com/intentplane/intentplane/test/scene"
)

// maxTokens is how many tokens of Crossplane's circuit breaker an Application may cost from apply to Running, of the 100 that there are at first.
const maxTokens = 80

// quiet is for how long no token may be spent before the tokens are counted.
const quiet = 10 * time.Second

// tokensSpent returns how many tokens the Applications spent.
func (s *stage) tokensSpent() float64 {
	s.T.Helper()
	m, err := s.CoreMetrics(s.T.Context())
	s.must(err)
	return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed", "controller": "composite/applications.intentplane.dev"})
}

// maxCommitTokens is how many tokens the next commit may cost. The benchmark measures the goal, which is 45: on a machine that is busy a write is refused now and
// then, and made once more.
const maxCommitTokens = 55

// settledTokens returns how many tokens the Applications spent, once they spend no more.
func (s *stage) settledTokens() float64 {
	s.T.Helper()
	after, since := s.tokensSpent(), time.Now()
	s.Until("no token is spent", scene.Patience, func() bool {
		if now := s.tokensSpent(); now != after {
			after, since = now, time.Now()
		}
		return time.Since(since) > quiet
	})
	return after
}
