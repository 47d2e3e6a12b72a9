package clusters

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTopology builds a cluster from a ClusterClass, scales it, upgrades it and deletes it. At each step the phase that core computes and
// what we say of it are as documented, and nobody but core writes the status of the Cluster.
func TestTopology(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	wc, mc := s.workload("mine", s.topology()), s.managed("mine", nil)
	s.Set(wc, map[string]any{"deletion": "1s"}, "spec", "timeouts")
	said, reason := s.follow(wc, phases()), s.follow(mc, reasons())
	s.Apply(wc)
	built := s.ready(mc)
	s.describesItself(built)
	s.provisioned(wc)
	s.carries(s.cluster(), version, 1, 1)

	s.Set(wc, int64(3), "spec", "topology", "controlPlane", "replicas")
	s.workers(wc, 2)
	s.Apply(wc)
	s.machines(mc, 3, 2)

	s.Set(wc, newVersion, "spec", "version")
	s.Apply(wc)
	s.until(mc, "is upgraded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "version") == newVersion && scene.Condition(u, "Ready").Reason == "Ready"
	})
	s.machines(mc, 3, 2)
	s.carries(s.cluster(), newVersion, 3, 2)
	s.provisioned(wc)

	s.dismantle(wc, mc)
	// Progress is told five seconds apart, so what it is on the way there need not be seen.
	said.check(t, pair{"Provisioned", "Provisioned"})
	reason.check(t, pair{"Provisioned", "Ready"}, pair{"Deleting", "Deleting"})
	s.audited(4)
	s.coreWrote()
	if n := len(s.writes(provider)); n > maxWrites {
		t.Errorf("the provider wrote %d times what it changed four times", n)
	}
}
