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
	h := s.hostCluster(k)
	h.buildHosted()
	wc, mc := s.describeWorkload("mine", s.existingCluster()), s.describeManaged("mine", nil)
	s.Apply(wc)
	s.awaitReady(mc)
	s.provisioned(wc)
	before := s.refusedByBreaker(t.Context())
	tick := time.NewTicker(time.Second / 2) //nolint:mnd // Half of a flap.
	defer tick.Stop()
	for range flaps {
		<-tick.C
		h.awaitAvailable("False", "etcd has no leader")
		<-tick.C
		h.awaitAvailable("True", "")
	}
	h.awaitAvailable("False", "etcd has no leader")
	s.awaitObject(wc, "is degraded", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Degraded" })
	if diff := cmp.Diff(before, s.refusedByBreaker(t.Context())); diff != "" {
		t.Errorf("what the circuit breaker refused in %d flaps: -before, +after:\n%s", flaps, diff)
	}
	s.Delete(wc)
	s.awaitGone(wc)
}
