package disruption

import (
	"fmt"
	"testing"

	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/scene"
)

func TestBreakerBudget(t *testing.T) {
	warm := scene.New(t, cp, "edge1") // A delivery before the measurement fills the ledger of tokens.
	warm.Succeed(warm.Claim("shop", intentWithReplicas(warm, 1, "edge1")))
	for _, n := range []int{1, 10} {
		t.Run(fmt.Sprintf("Sites%d", n), func(t *testing.T) {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("edge%d", i+1)
			}
			s := scene.New(t, cp, names...)
			baseline := tokensSpent(t)
			s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, names...)))
			final := tokensSpent(t)
			figure.Check(t, fmt.Sprintf("tokens_of_%d_sites", n), final["Allowed"]-baseline["Allowed"], budget)
			if final["Dropped"] != baseline["Dropped"] || final["HalfOpenAllowed"] != baseline["HalfOpenAllowed"] {
				t.Errorf("the circuit breaker opened: %v, before %v", final, baseline)
			}
		})
	}
}
