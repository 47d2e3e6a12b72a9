package clusters

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRebaseCluster builds a cluster, and moves it at once to another ClusterClass with other machines. It is Provisioned all the while, and reported as
// rebasing until Cluster API is done with the other class; and Crossplane's circuit breaker has many tokens left.
func TestRebaseCluster(t *testing.T) {
	t.Parallel()
	s := newClusterStage(t)
	s.anotherClass()
	wc, mc := s.describeWorkload("mine", s.describeTopology()), s.describeManaged("mine", nil)
	tokens := s.startTokenLog()
	s.Apply(wc)
	s.provisioned(wc)
	observed := s.followObject(wc, wantRebasing())
	s.awaitMadeOfClass(mc, clusterapi.ClassName)
	tokens.logPhaseCost("the creation")
	machines := s.onlyObjectOfKind("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane")
	previous := s.machineTemplate(machines)

	s.Set(wc, otherClass, "spec", "topology", "classRef", "name")
	s.Apply(wc)
	s.awaitMadeOfClass(mc, otherClass)
	s.provisioned(wc)
	tokens.logPhaseCost("the rebase")
	if current := s.machineTemplate(machines); current == previous {
		t.Errorf("its machines are still made of %s", current)
	}

	s.Set(wc, newVersion, "spec", "version")
	s.Apply(wc)
	s.awaitObject(mc, "is upgraded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "version") == newVersion
	})
	s.provisioned(wc)
	tokens.logPhaseCost("the upgrade")
	tokens.checkBudget()
	observed.awaitStateOrder(s, pair{"Provisioned", "Idle"}, pair{"Provisioned", "Rebasing"}, pair{"Provisioned", "Idle"}, pair{"Provisioned", "Upgrading"}, pair{"Provisioned", "Idle"})
	s.Delete(wc)
	s.awaitObjectGone(wc)
}
