package disruption

import (
	"testing"
)

// budget is the figure's limit of the tokens of Crossplane's circuit breaker that a deployment costs from apply to Succeeded. It has 100.
const budget = 60

// tokensSpent returns the cost of all composites so far.
func tokensSpent(t *testing.T) map[string]float64 {
	t.Helper()
	m, err := cp.CoreMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(m["circuit_breaker_events_total"].GetMetric()) == 0 {
		t.Fatal("Crossplane does not count the events of its circuit breaker")
	}
	out := map[string]float64{}
	for _, result := range []string{"Allowed", "Dropped", "HalfOpenAllowed"} {
		out[result] = m.Sum("circuit_breaker_events_total", map[string]string{"result": result})
	}
	return out
}
