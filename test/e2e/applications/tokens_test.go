package applications

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/scene"
)

// maxTokens is how many tokens of Crossplane's circuit breaker an Application may cost from apply to Running, of the 100 that there are at first.
const maxTokens = 80

// quiet is for how long no token may be spent before the tokens are counted.
const quiet = 10 * time.Second

// TestTokens counts what the first image costs the Application itself. It runs before the tests that run beside each other.
func TestTokens(t *testing.T) {
	s := newStage(t, namespaced)
	before := s.tokens()
	s.Apply(s.app)
	s.deployed(1)
	s.serve(1)
	s.reaches("Running", 1)
	after, since := s.tokens(), time.Now()
	s.Until("no token is spent", scene.Patience, func() bool {
		if now := s.tokens(); now != after {
			after, since = now, time.Now()
		}
		return time.Since(since) > quiet
	})
	m, err := s.CoreMetrics(t.Context())
	s.must(err)
	t.Logf("application_tokens_first: %v tokens, all composites together %v", after-before, m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}))
	if spent := after - before; spent == 0 || spent > maxTokens {
		t.Errorf("the first image costs %v tokens, want 1 to %d", spent, maxTokens)
	}
	if opened := m.Sum("circuit_breaker_opens_total", nil); opened > 0 {
		t.Errorf("the circuit breaker opened %v times", opened)
	}
}

// tokens returns how many tokens the Applications spent.
func (s *stage) tokens() float64 {
	s.T.Helper()
	m, err := s.CoreMetrics(s.T.Context())
	s.must(err)
	return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed", "controller": "composite/applications.intentplane.dev"})
}
