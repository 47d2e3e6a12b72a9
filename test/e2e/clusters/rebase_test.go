package clusters

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRebase builds a cluster, and moves it at once to another ClusterClass, whose machines are others. It is Provisioned all the while, and said
// to be rebased until Cluster API is done with the other class; and Crossplane's circuit breaker has much left of what it lets through.
func TestRebase(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.anotherClass()
	wc, mc := s.workload("mine", s.topology()), s.managed("mine", nil)
	book := s.keepBook()
	s.Apply(wc)
	s.provisioned(wc)
	seen := s.follow(wc, rebasing())
	s.madeOf(mc, clusterapi.ClassName)
	book.chapter("the creation")
	machines := s.one("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane")
	before := s.template(machines)

	s.Set(wc, otherClass, "spec", "topology", "classRef", "name")
	s.Apply(wc)
	s.madeOf(mc, otherClass)
	s.provisioned(wc)
	book.chapter("the rebase")
	if after := s.template(machines); after == before {
		t.Errorf("its machines are still made of %s", after)
	}

	s.Set(wc, newVersion, "spec", "version")
	s.Apply(wc)
	s.until(mc, "is upgraded", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "version") == newVersion
	})
	s.provisioned(wc)
	book.chapter("the upgrade")
	book.check()
	seen.check(t, pair{"Provisioned", "Idle"}, pair{"Provisioned", "Rebasing"}, pair{"Provisioned", "Idle"}, pair{"Provisioned", "Upgrading"}, pair{"Provisioned", "Idle"})
	s.Delete(wc)
	s.gone(wc)
}
