package clusters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

const (
	// flaps of a cluster, one each second. If each were told, they would cost several times what Crossplane's circuit breaker lets through.
	flaps = 60

	// flapTokens is what they may cost of its hundred tokens and the one that it gives back each second.
	flapTokens = 100
)

// tokens are what all composites have cost so far, and what the circuit breaker kept from them.
func (s *stage) tokens() (allowed float64, refused map[string]float64) {
	s.T.Helper()
	m, err := cp.CoreMetrics(s.T.Context())
	s.must(err)
	of := func(result string) float64 {
		return m.Sum("circuit_breaker_events_total", map[string]string{"result": result})
	}
	if of("Allowed") == 0 {
		s.T.Fatal("Crossplane does not count the events of its circuit breaker")
	}
	return of("Allowed"), map[string]float64{"dropped": of("Dropped"), "half open": of("HalfOpenAllowed"), "opens": m.Sum("circuit_breaker_opens_total", nil)}
}

// TestBreaker stays closed while a cluster that was ready flaps every second: a composite that nobody hears any more would tell nothing of it.
func TestBreaker(t *testing.T) { //nolint:paralleltest // It counts what all composites cost, so nothing else may run.
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
	before, refused := s.tokens()
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
	after, now := s.tokens()
	t.Logf("%v tokens for %d flaps", after-before, flaps)
	if diff := cmp.Diff(refused, now); diff != "" || after-before > flapTokens {
		t.Errorf("%v tokens for %d flaps, want at most %d; what the circuit breaker refused: -before, +after:\n%s", after-before, flaps, flapTokens, diff)
	}
	s.Delete(wc)
	s.gone(wc)
}
