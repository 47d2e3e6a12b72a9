package clusters

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/scene"
)

// TestFlappingCluster has a ready cluster that flaps every second, and measures the events of all composites that the circuit breaker refuses meanwhile. In the end the
// WorkloadCluster is Degraded: a breaker that stays open would hide that.
func TestFlappingCluster(t *testing.T) {
	t.Parallel()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := newClusterStage(t)
	h := s.hostCluster(k)
	h.buildHosted()
	wc, mc := s.describeWorkload("mine", s.existingCluster()), s.describeManaged("mine", nil)
	s.Apply(wc)
	s.awaitClusterReady(mc)
	s.provisioned(wc)
	baseline := s.refusedByBreaker(t.Context())
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
	for result, count := range s.refusedByBreaker(t.Context()) {
		figure.Check(t, fmt.Sprintf("%s_in_%d_flaps", strings.ReplaceAll(result, " ", "_"), flaps), count-baseline[result], 0)
	}
	s.Delete(wc)
	s.awaitObjectGone(wc)
}
