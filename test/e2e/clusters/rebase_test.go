package clusters

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

const otherClass = "other"

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

// madeOf waits until a ManagedCluster is made of a class, and says so.
func (s *stage) madeOf(mc *unstructured.Unstructured, class string) {
	s.T.Helper()
	s.until(mc, "is made of "+class, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "topology", "class") == class
	})
}

// rebasing says of a WorkloadCluster that was provisioned which phase it is in, and why work goes on.
func rebasing() table {
	return table{
		of: func(u *unstructured.Unstructured) pair {
			phase, c := scene.Field(u, "status", "phase"), scene.Condition(u, "Reconciling")
			if c.Status != corev1.ConditionTrue {
				return pair{phase, "Idle"}
			}
			return pair{phase, string(c.Reason)}
		},
		rows: map[string][]string{"Provisioned": {"Idle", "Rebasing", "Upgrading", "RollingOut", "Progressing"}},
	}
}

// template that the machines of a control plane are made of.
func (s *stage) template(plane *unstructured.Unstructured) string {
	s.T.Helper()
	return scene.Field(s.Now(plane), "spec", "machineTemplate", "spec", "infrastructureRef", "name")
}

// anotherClass is like the first, with templates of its own, and machines that take longer to start.
func (s *stage) anotherClass() {
	s.T.Helper()
	objects, err := clusterapi.Class(s.Namespace)
	s.must(err)
	for _, o := range objects {
		b, err := o.MarshalJSON()
		s.must(err)
		changed := strings.NewReplacer(`"`+clusterapi.ClassName+`"`, `"`+otherClass+`"`, `"startupDuration":"2s"`, `"startupDuration":"3s"`).Replace(string(b))
		other := &unstructured.Unstructured{}
		s.must(json.Unmarshal([]byte(changed), &other.Object))
		s.Apply(other)
	}
}
