package clusters

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

const otherClass = "other"

// rebases moves a cluster to another ClusterClass, whose machines are others. While Cluster API replaces them the cluster is Provisioned, and
// said to be rebased; and that is over when the last one is replaced.
func (s *stage) rebases(wc, mc *unstructured.Unstructured) {
	s.T.Helper()
	s.until(mc, "is made of its class", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "topology", "class") == clusterapi.ClassName
	})
	s.anotherClass()
	old := s.worker()
	s.hold(old)
	s.Set(wc, otherClass, "spec", "topology", "classRef", "name")
	s.Apply(wc)
	s.until(old, "is replaced", func(u *unstructured.Unstructured) bool { return u.GetDeletionTimestamp() != nil })
	s.until(wc, "is rebased", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Reconciling", corev1.ConditionTrue, "Rebasing") && scene.Field(u, "status", "phase") == "Provisioned" &&
			strings.Contains(scene.Condition(u, "Reconciling").Message, "ClusterClass other is asked for") && !scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
	s.until(mc, "is being made of the other", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "topology", "class") == clusterapi.ClassName && scene.Condition(u, "Ready").Reason == "Ready"
	})
	s.release(old)
	s.provisioned(wc)
	if class := scene.Field(s.Now(mc), "status", "atProvider", "topology", "class"); class != otherClass {
		s.T.Errorf("it is made of %q", class)
	}
	s.gone(old)
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

// worker is the Machine of the only one.
func (s *stage) worker() *unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	l.SetKind("MachineList")
	s.must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace), client.HasLabels{"cluster.x-k8s.io/deployment-name"}))
	if len(l.Items) != 1 {
		s.T.Fatalf("%d workers", len(l.Items))
	}
	return &l.Items[0]
}
