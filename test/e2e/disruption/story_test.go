package disruption

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/scene"
)

// TestBreakerStory delivers a good revision, and a bad revision that its Gate rejects and the provider rolls back, with Crossplane's own
// settings: its circuit breaker stays closed. The Gates take a few seconds, as the shortest Gates do.
func TestBreakerStory(t *testing.T) {
	names := make([]string, 10)
	for i := range names {
		names[i] = fmt.Sprintf("edge%d", i+1)
	}
	s, target := measuredScene(t, names)
	check := map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(error_ratio{job="shop"})`}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "2s", "count": int64(3), "timeout": "3m",
	}
	claim := func(replicas int) *unstructured.Unstructured {
		return s.Set(s.Claim("shop", intentWithReplicas(s, replicas, names...)), []any{check}, "spec", "gatesConfig", "checks")
	}
	reach := func(replicas int, phase, outcome string) {
		s.Reach(claim(replicas), phase+" "+outcome, func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == phase && scene.Field(u, "status", "outcome") == outcome
		})
	}
	ledger, err := load.NewLedger(t.Context(), cp.Client, s.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	baseline := tokensSpent(t)
	reach(1, "Succeeded", "Succeeded")
	first := tokensSpent(t)["Allowed"] - baseline["Allowed"]
	reach(2, "Validating", "")
	target.Set("error_ratio", 0.2)
	reach(2, "Succeeded", "RolledBack")
	final := tokensSpent(t)
	t.Logf("%v tokens for the first revision, and %v for the bad revision and its rollback", first, final["Allowed"]-baseline["Allowed"]-first)
	if first > budget {
		t.Errorf("%v tokens for the first revision are more than the %d of the budget", first, budget)
	}
	if final["Dropped"] != baseline["Dropped"] || final["HalfOpenAllowed"] != baseline["HalfOpenAllowed"] {
		t.Errorf("the circuit breaker opened: %v, before %v", final, baseline)
	}
	for _, e := range ledger.Entries() {
		if t.Failed() {
			t.Logf("%d %s %s %v %v", e.Tokens, e.Kind, e.Name, e.Writers, e.Changed)
		}
	}
}
