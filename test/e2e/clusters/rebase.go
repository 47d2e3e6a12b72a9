package clusters

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/clusterapi"
	"github.com/intentplane/intentplane/test/scene"
)

const otherClass = "other"

// awaitMadeOfClass waits until a ManagedCluster reports its ClusterClass.
func (s *stage) awaitMadeOfClass(mc *unstructured.Unstructured, class string) {
	s.T.Helper()
	s.awaitObject(mc, "is made of "+class, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "atProvider", "topology", "class") == class
	})
}

// wantRebasing compares the phase of a provisioned WorkloadCluster, and the reason of Reconciling.
func wantRebasing() table {
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

// machineTemplate that the machines of a control plane are made of.
func (s *stage) machineTemplate(plane *unstructured.Unstructured) string {
	s.T.Helper()
	return scene.Field(s.Now(plane), "spec", "machineTemplate", "spec", "infrastructureRef", "name")
}

// anotherClass is like the first, with templates of its own, and machines that take longer to start.
func (s *stage) anotherClass() {
	s.T.Helper()
	objects, err := clusterapi.Class(s.Namespace)
	s.Must(err)
	for _, o := range objects {
		b, err := o.MarshalJSON()
		s.Must(err)
		changed := strings.NewReplacer(`"`+clusterapi.ClassName+`"`, `"`+otherClass+`"`, `"startupDuration":"2s"`, `"startupDuration":"3s"`).Replace(string(b))
		class := &unstructured.Unstructured{}
		s.Must(json.Unmarshal([]byte(changed), &class.Object))
		s.Apply(class)
	}
}
