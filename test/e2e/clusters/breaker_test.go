package clusters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

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
