package disruption

import (
	"fmt"
	"testing"

	"github.com/intentplane/intentplane/test/scene"
)

// budget is how many tokens of Crossplane's circuit breaker a deployment may cost from apply to Succeeded. It has 100.
const budget = 60

// tokens are what all composites have cost so far.
func tokens(t *testing.T) map[string]float64 {
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

func TestBreakerBudget(t *testing.T) {
	warm := scene.New(t, cp, "edge1") // So that there is something to count.
	warm.Succeed(warm.Claim("shop", intent(warm, 1, "edge1")))
	for _, n := range []int{1, 10} {
		t.Run(fmt.Sprintf("Sites%d", n), func(t *testing.T) {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("edge%d", i+1)
			}
			s := scene.New(t, cp, names...)
			before := tokens(t)
			s.Succeed(s.Claim("shop", intent(s, 1, names...)))
			after := tokens(t)
			used := after["Allowed"] - before["Allowed"]
			t.Logf("%v tokens from apply to Succeeded for %d sites", used, n)
			if used > budget {
				t.Errorf("%v tokens are more than the %d of the budget", used, budget)
			}
			if after["Dropped"] != before["Dropped"] || after["HalfOpenAllowed"] != before["HalfOpenAllowed"] {
				t.Errorf("the circuit breaker opened: %v, before %v", after, before)
			}
		})
	}
}
