package clusters

import (
	"context"
	"testing"

	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/load"
)

// flaps of a cluster, one each second. If each were reported, they would cost several times the limit of Crossplane's circuit breaker.
const flaps = 60

// budget is the figure's limit of the tokens that are missing of the circuit breaker, which has a hundred, and gets one each second.
const budget = 75

// refusedByBreaker returns the events that the circuit breaker has kept from composites so far.
func (s *stage) refusedByBreaker(ctx context.Context) map[string]float64 {
	s.T.Helper()
	m, err := cp.CoreMetrics(ctx)
	s.Must(err)
	countOf := func(result string) float64 {
		return m.Sum("circuit_breaker_events_total", map[string]string{"result": result})
	}
	if countOf("Allowed") == 0 {
		s.T.Fatal("Crossplane does not count the events of its circuit breaker")
	}
	return map[string]float64{"dropped": countOf("Dropped"), "half open": countOf("HalfOpenAllowed"), "opens": m.Sum("circuit_breaker_opens_total", nil)}
}

// A tokenLog has the charges of the circuit breaker for the composite of a namespace, in phases.
type tokenLog struct {
	*load.Ledger

	t    *testing.T
	read int
}

// startTokenLog begins to record charges.
func (s *stage) startTokenLog() *tokenLog {
	s.T.Helper()
	l, err := load.NewLedger(s.T.Context(), cp.Client, s.Namespace)
	s.Must(err)
	s.T.Cleanup(l.Close)
	return &tokenLog{Ledger: l, t: s.T}
}

// logPhaseCost ends a phase, and logs its cost.
func (b *tokenLog) logPhaseCost(title string) {
	n, all := 0, b.Entries()
	for _, e := range all[b.read:] {
		n += e.Tokens
	}
	b.read = len(all)
	b.t.Logf("%s: %d tokens, and at most %.0f missing so far", title, n, b.Deepest())
}

// checkBudget compares the tokens that were missing of the circuit breaker with the budget.
func (b *tokenLog) checkBudget() {
	b.t.Helper()
	figure.Check(b.t, "tokens_missing", b.Deepest(), budget)
	for _, e := range b.Entries() {
		if b.t.Failed() {
			b.t.Logf("%s %d %s %v %v", e.At.Format("05.0"), e.Tokens, e.Kind, e.Writers, e.Changed)
		}
	}
}
