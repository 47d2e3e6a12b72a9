package clusters

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/scene"
)

// flaps of a cluster, one each second. If each were told, they would cost several times what Crossplane's circuit breaker lets through.
const flaps = 60

// budget is how many tokens may be missing of the circuit breaker, which has a hundred, and gets one each second.
const budget = 75

// refused is what the circuit breaker kept from composites so far.
func (s *stage) refused(ctx context.Context) map[string]float64 {
	s.T.Helper()
	m, err := cp.CoreMetrics(ctx)
	s.must(err)
	of := func(result string) float64 {
		return m.Sum("circuit_breaker_events_total", map[string]string{"result": result})
	}
	if of("Allowed") == 0 {
		s.T.Fatal("Crossplane does not count the events of its circuit breaker")
	}
	return map[string]float64{"dropped": of("Dropped"), "half open": of("HalfOpenAllowed"), "opens": m.Sum("circuit_breaker_opens_total", nil)}
}

// TestBreaker stays closed while a cluster that was ready flaps every second: a composite that nobody hears any more would tell nothing of it.
func TestBreaker(t *testing.T) {
	t.Parallel()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	h := s.host(k)
	h.build()
	wc, mc := s.workload("mine", s.existing()), s.managed("mine", nil)
	s.Apply(wc)
	s.ready(mc)
	s.provisioned(wc)
	before := s.refused(t.Context())
	tick := time.NewTicker(time.Second / 2) //nolint:mnd // Half of a flap.
	defer tick.Stop()
	for range flaps {
		<-tick.C
		h.available("False", "etcd has no leader")
		<-tick.C
		h.available("True", "")
	}
	h.available("False", "etcd has no leader")
	s.until(wc, "is degraded", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Degraded" })
	if diff := cmp.Diff(before, s.refused(t.Context())); diff != "" {
		t.Errorf("what the circuit breaker refused in %d flaps: -before, +after:\n%s", flaps, diff)
	}
	s.Delete(wc)
	s.gone(wc)
}

// A book is what the circuit breaker charged the composite of a namespace for, in chapters.
type book struct {
	*load.Ledger

	t    *testing.T
	read int
}

// keepBook begins to note what is charged for.
func (s *stage) keepBook() *book {
	s.T.Helper()
	l, err := load.NewLedger(s.T.Context(), cp.Client, s.Namespace)
	s.must(err)
	s.T.Cleanup(l.Close)
	return &book{Ledger: l, t: s.T}
}

// chapter ends, and what it cost is told.
func (b *book) chapter(what string) {
	n, all := 0, b.Entries()
	for _, e := range all[b.read:] {
		n += e.Tokens
	}
	b.read = len(all)
	b.t.Logf("%s: %d tokens, and at most %.0f missing so far", what, n, b.Deepest())
}

// check that the circuit breaker had much left.
func (b *book) check() {
	b.t.Helper()
	if deepest := b.Deepest(); deepest > budget {
		b.t.Errorf("%.0f tokens were missing of the circuit breaker, and at most %d may be", deepest, budget)
	}
	for _, e := range b.Entries() {
		if b.t.Failed() {
			b.t.Logf("%s %d %s %v %v", e.At.Format("05.0"), e.Tokens, e.Kind, e.Writers, e.Changed)
		}
	}
}
