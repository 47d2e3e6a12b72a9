package clusters

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

const otherClass = "other"

// TestRebase moves a cluster to another ClusterClass, whose machines are others. It is said to be rebased, by name of the class that it was made
// of, until Cluster API is done with the other one.
func TestRebase(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("mine", s.topology())
	s.Apply(mc)
	s.ready(mc)
	class := func(want string) {
		t.Helper()
		s.until(mc, "is made of "+want, func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "atProvider", "topology", "class") == want
		})
	}
	class(clusterapi.ClassName)
	machines := s.one("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane")
	before := s.template(machines)
	s.anotherClass()
	seen := s.follow(mc, rebasing())
	s.Set(mc, otherClass, "spec", "forProvider", "topology", "classRef", "name")
	s.Apply(mc)
	class(otherClass)
	s.ready(mc)
	seen.check(t, pair{clusterapi.ClassName, "false"}, pair{clusterapi.ClassName, "true"}, pair{otherClass, "false"})
	if after := s.template(machines); after == before {
		t.Errorf("its machines are still made of %s", after)
	}
	s.Delete(mc)
	s.gone(mc)
}

// rebasing says which class a ManagedCluster is made of, and whether it gets another one.
func rebasing() table {
	return table{
		of: func(u *unstructured.Unstructured) pair {
			is, _, _ := unstructured.NestedBool(u.Object, "status", "atProvider", "topology", "rebasing")
			return pair{scene.Field(u, "status", "atProvider", "topology", "class"), strconv.FormatBool(is)}
		},
		rows: map[string][]string{clusterapi.ClassName: {"false", "true"}, otherClass: {"false"}},
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
		b, err := json.Marshal(o.Object)
		s.must(err)
		text := strings.ReplaceAll(string(b), `"`+clusterapi.ClassName+`"`, `"`+otherClass+`"`)
		other := &unstructured.Unstructured{}
		s.must(other.UnmarshalJSON([]byte(strings.ReplaceAll(text, `"startupDuration":"2s"`, `"startupDuration":"3s"`))))
		s.Apply(other)
	}
}
