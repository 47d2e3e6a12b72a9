package applications

import (
	"testing"

	"github.com/intentplane/intentplane/test/figure"
)

// TestTokens counts the cost of the first image for the composite of an Application of each shape. It runs before the parallel tests.
func TestTokens(t *testing.T) {
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			s := newAppStage(t, apiVersion)
			baseline := s.tokensSpent()
			s.Apply(s.app)
			s.awaitDeployed(1)
			s.reportPodsReady(1)
			s.awaitReached("Running", 1)
			final := s.settledTokens()
			m, err := s.CoreMetrics(t.Context())
			s.requireNoError(err)
			t.Logf("tokens of all composites together: %v", m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}))
			if final == baseline {
				t.Error("the circuit breaker counts no token of the first image")
			}
			figure.Check(t, "tokens_of_first_image", final-baseline, maxTokens)
			if opened := m.Sum("circuit_breaker_opens_total", nil); opened > 0 {
				t.Errorf("the circuit breaker opened %v times", opened)
			}
		})
	}
}

// TestCommitTokens counts the cost of a commit for the composite of an Application of each shape, and prints the duration of its steps. It runs
// before the parallel tests.
func TestCommitTokens(t *testing.T) {
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			s := newSourceStage(t, apiVersion)
			s.giveWebhook(hookToken)
			s.Apply(s.app)
			s.awaitRunning(s.first)
			baseline := s.settledTokens()
			s.logCommitTimes()
			spent := s.settledTokens() - baseline
			if spent == 0 {
				t.Error("the circuit breaker counts no token of a commit")
			}
			figure.Check(t, "tokens_of_commit", spent, maxCommitTokens)
		})
	}
}
