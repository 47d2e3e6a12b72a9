package clusters

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTopologyCluster builds a cluster from a ClusterClass, scales it, upgrades it and deletes it. At each step the phase of core and our status
// are as documented, and only core writes the status of the Cluster.
func TestTopologyCluster(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	wc, mc := s.describeWorkload("mine", s.describeTopology()), s.describeManaged("mine", nil)
	s.Set(wc, map[string]any{"deletion": "1s"}, "spec", "timeouts")
	followed, reason := s.followObject(wc, phasesInOrder()), s.followObject(mc, reasonsInOrder())
	s.Apply(wc)
	built := s.awaitClusterReady(mc)
	s.describesItself(built)
	s.provisioned(wc)
	s.wantRequestedFields(s.clusterNamed(), version, 1, 1)

	s.Set(wc, int64(3), "spec", "topology", "controlPlane", "replicas")
	s.workersWanted(wc, 2)
	s.Apply(wc)
	s.awaitMachines(mc, 3, 2)

	s.Set(wc, newVersion, "spec", "version")
	s.Apply(wc)
	s.awaitObject(mc, "is upgraded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "version") == newVersion && scene.Condition(u, "Ready").Reason == "Ready"
	})
	s.awaitMachines(mc, 3, 2)
	s.wantRequestedFields(s.clusterNamed(), newVersion, 3, 2)
	s.provisioned(wc)

	s.dismantleCluster(wc, mc)
	// Progress is reported at intervals of five seconds, so intermediate values may be missing.
	followed.awaitStateOrder(s, pair{"Provisioned", "Provisioned"})
	reason.awaitStateOrder(s, pair{"Provisioned", "Ready"}, pair{"Deleting", "Deleting"})
	s.wantOnlyOurWrites(4)
	s.wantWritesOfCore()
	if n := len(s.writesOfUser(provider)); n > maxWrites {
		t.Errorf("the provider wrote %d times for four changes", n)
	}
}
